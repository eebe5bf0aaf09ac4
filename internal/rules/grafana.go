package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// grafanaInterval is the interval of groups without one: Grafana has no default for all groups.
const grafanaInterval = model.Duration(30 * time.Second)

// grafanaGroup is a group of alerts in Grafana's provisioning format.
type grafanaGroup struct {
	OrgID    int            `yaml:"orgId"`
	Name     string         `yaml:"name"`
	Folder   string         `yaml:"folder"`
	Interval model.Duration `yaml:"interval"`
	Rules    []grafanaRule  `yaml:"rules"`
}

type grafanaRule struct {
	UID           string         `yaml:"uid"`
	Title         string         `yaml:"title"`
	Condition     string         `yaml:"condition"`
	Data          []grafanaQuery `yaml:"data"`
	NoData        string         `yaml:"noDataState"`
	Error         string         `yaml:"execErrState"`
	For           model.Duration `yaml:"for"`
	KeepFiringFor model.Duration `yaml:"keepFiringFor,omitempty"`
	// Missing is the number of evaluations without a series after which its alert ends while
	// others remain. Grafana uses it instead of KeepFiringFor.
	Missing     int               `yaml:"missing_series_evals_to_resolve"`
	Annotations map[string]string `yaml:"annotations"`
	Labels      map[string]string `yaml:"labels"`
}

type grafanaQuery struct {
	RefID      string         `yaml:"refId"`
	Range      grafanaRange   `yaml:"relativeTimeRange"`
	Datasource string         `yaml:"datasourceUid"`
	Model      map[string]any `yaml:"model"`
}

type grafanaRange struct{ From, To int }

// GrafanaYAML returns the alerts as rules for Grafana's directory provisioning/alerting. They
// query the data source with the given UID, which must have the series of RecordingYAML.
func (r Rules) GrafanaYAML(datasource string) ([]byte, error) {
	file := struct {
		APIVersion int            `yaml:"apiVersion"`
		Groups     []grafanaGroup `yaml:"groups"`
	}{APIVersion: 1}
	times := map[string]int{}
	for _, g := range r.Groups.Groups {
		for _, rule := range g.Rules {
			times[rule.Alert]++
		}
	}
	for _, g := range r.Alerts().Groups.Groups {
		out := grafanaGroup{OrgID: 1, Name: g.Name, Folder: "Synthetic", Interval: g.Interval}
		if out.Interval == 0 {
			out.Interval = grafanaInterval
		}
		for _, rule := range g.Rules {
			out.Rules = append(out.Rules, toGrafana(rule, out.Interval, times[rule.Alert] > 1, datasource))
		}
		file.Groups = append(file.Groups, out)
	}
	return encode(file)
}

// Alerts returns the alerting rules.
func (r Rules) Alerts() Rules { return r.only(func(r rulefmt.Rule) bool { return r.Alert != "" }) }

// Recording returns the recording rules.
func (r Rules) Recording() Rules { return r.only(func(r rulefmt.Rule) bool { return r.Record != "" }) }

func (r Rules) only(wanted func(rulefmt.Rule) bool) Rules {
	out := Rules{comments: r.comments}
	for _, g := range r.Groups.Groups {
		var kept []rulefmt.Rule
		for _, rule := range g.Rules {
			if wanted(rule) {
				kept = append(kept, rule)
			}
		}
		if g.Rules = kept; len(kept) > 0 {
			out.Groups.Groups = append(out.Groups.Groups, g)
		}
	}
	return out
}

// toGrafana converts an alert. Titles must be unique in a folder, so alerts of one name get an addition.
func toGrafana(r rulefmt.Rule, interval model.Duration, repeated bool, datasource string) grafanaRule {
	title := r.Alert
	if repeated {
		title += " (" + titleAddition(r.Labels) + ")"
	}
	out := grafanaRule{
		UID: grafanaUID(title), Title: title, Condition: "fires", NoData: "OK", Error: "KeepLast",
		For: r.For, KeepFiringFor: r.KeepFiringFor, Missing: max(1, int((r.KeepFiringFor+interval-1)/interval)), Labels: r.Labels, Annotations: map[string]string{},
	}
	if r.Alert == alertProberSilent {
		// A failed query ends no incident. If no query works, only the alert on silent probers
		// reports it.
		out.Error = "Error"
	}
	for name, text := range r.Annotations {
		out.Annotations[name] = grafanaTemplate(text)
	}
	out.Data = []grafanaQuery{
		{"query", grafanaRange{From: 600}, datasource, map[string]any{"refId": "query", "expr": r.Expr, "instant": true, "range": false}},
		// Every returned value fires, including 0 and NaN.
		{"any", grafanaRange{}, "__expr__", map[string]any{"refId": "any", "type": "math", "expression": "is_number($query) || is_nan($query) || is_inf($query)"}},
		{"fires", grafanaRange{}, "__expr__", map[string]any{"refId": "fires", "type": "threshold", "expression": "any",
			"conditions": []any{map[string]any{"evaluator": map[string]any{"type": "gt", "params": []int{0}}}}}},
	}
	return out
}

// titleAddition distinguishes alerts of one name by their scope or their severity.
func titleAddition(labels map[string]string) string {
	if scope, ok := labels["scope"]; ok {
		return scope
	}
	return strings.Join(slices.Sorted(maps.Values(labels)), " ")
}

// grafanaUID returns the characters of a title that a UID may have.
func grafanaUID(title string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// grafanaTemplate converts a Prometheus template to Grafana, where the value has the name of
// its query. Grafana expands environment variables in all provisioned values except texts, so a
// dollar sign is safe here. Grafana has no "query" function: such parts are dropped.
func grafanaTemplate(text string) string {
	return regexp.MustCompile(`\$value\b`).ReplaceAllLiteralString(text, "$values.query.Value")
}
