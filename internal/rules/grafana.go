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

// grafanaInterval is how often Grafana evaluates a group that says nothing: it has
// no interval of all groups, as Prometheus has.
const grafanaInterval = model.Duration(30 * time.Second)

// grafanaGroup is a group of alerts as Grafana provisions them from files.
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
	// Missing is after how many evaluations without a series its alert is over, while
	// there are others: then Grafana asks for it in place of KeepFiringFor.
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

// grafanaRange is in seconds before now.
type grafanaRange struct{ From, To int }

// GrafanaYAML is the alerts as rules that Grafana evaluates itself, for its
// directory provisioning/alerting. They query the data source of that UID, which
// must have the series of RecordingYAML.
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

// Alerts are the rules without those that record.
func (r Rules) Alerts() Rules { return r.only(func(r rulefmt.Rule) bool { return r.Alert != "" }) }

// Recording are the rules without the alerts.
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

// toGrafana makes Grafana's rule of an alert. A title is there once in a folder,
// so that alerts of one name are told apart by what else differs.
func toGrafana(r rulefmt.Rule, interval model.Duration, repeated bool, datasource string) grafanaRule {
	title := r.Alert
	if repeated {
		title += " (" + distinction(r.Labels) + ")"
	}
	out := grafanaRule{
		UID: grafanaUID(title), Title: title, Condition: "fires", NoData: "OK", Error: "KeepLast",
		For: r.For, KeepFiringFor: r.KeepFiringFor, Missing: max(1, int((r.KeepFiringFor+interval-1)/interval)), Labels: r.Labels, Annotations: map[string]string{},
	}
	if r.Alert == AlertProberSilent {
		// A query that fails ends no incident. That nobody can ask is said once, by
		// the alert that is about who is silent, and not by each.
		out.Error = "Error"
	}
	for name, text := range r.Annotations {
		out.Annotations[name] = grafanaTemplate(text)
	}
	out.Data = []grafanaQuery{
		{"query", grafanaRange{From: 600}, datasource, map[string]any{"refId": "query", "expr": r.Expr, "instant": true, "range": false}},
		// Whatever a query returns is an alert, 0 and no number too.
		{"any", grafanaRange{}, "__expr__", map[string]any{"refId": "any", "type": "math", "expression": "is_number($query) || is_nan($query) || is_inf($query)"}},
		{"fires", grafanaRange{}, "__expr__", map[string]any{"refId": "fires", "type": "threshold", "expression": "any",
			"conditions": []any{map[string]any{"evaluator": map[string]any{"type": "gt", "params": []int{0}}}}}},
	}
	return out
}

// distinction is by what alerts of one name differ: their scope, else their severity.
func distinction(labels map[string]string) string {
	if scope, ok := labels["scope"]; ok {
		return scope
	}
	return strings.Join(slices.Sorted(maps.Values(labels)), " ")
}

// grafanaUID is what remains of a title within the letters of a UID.
func grafanaUID(title string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// grafanaTemplate is a text of Prometheus in Grafana's terms: the value is named by
// its query. Of all that Grafana reads from files, texts alone are not searched for
// variables of the environment, so that a dollar stays one. What a text asks
// Prometheus by "query" is left out by Grafana.
func grafanaTemplate(text string) string {
	return regexp.MustCompile(`\$value\b`).ReplaceAllLiteralString(text, "$values.query.Value")
}
