package rules_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"go.yaml.in/yaml/v3"

	"synthetic/internal/rules"
)

// provisioned is the form of Grafana's files. Unknown keys are errors.
type provisioned struct {
	APIVersion int `yaml:"apiVersion"`
	Groups     []struct {
		OrgID        int `yaml:"orgId"`
		Name, Folder string
		Interval     model.Duration
		Rules        []struct {
			UID, Title, Condition string
			Data                  []struct {
				RefID             string                 `yaml:"refId"`
				RelativeTimeRange struct{ From, To int } `yaml:"relativeTimeRange"`
				DatasourceUID     string                 `yaml:"datasourceUid"`
				Model             map[string]any         `yaml:"model"`
			}
			NoDataState         string         `yaml:"noDataState"`
			ExecErrState        string         `yaml:"execErrState"`
			For                 model.Duration `yaml:"for"`
			KeepFiringFor       model.Duration `yaml:"keepFiringFor"`
			Missing             int            `yaml:"missing_series_evals_to_resolve"`
			Annotations, Labels map[string]string
		}
	}
}

// TestGrafana compares the alerts for Grafana with those for Prometheus, and expands their texts as Grafana
// does, without results of queries.
func TestGrafana(t *testing.T) {
	generated, err := rules.Generate(usual())
	if err != nil {
		t.Fatal(err)
	}
	text, err := generated.GrafanaYAML("here")
	if err != nil {
		t.Fatal(err)
	}
	var file provisioned
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, g := range generated.Groups.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				want[r.Expr]++
			}
		}
	}
	uids, titles := map[string]bool{}, map[string]bool{}
	for _, g := range file.Groups {
		if time.Duration(g.Interval) < 10*time.Second || time.Duration(g.Interval)%(10*time.Second) != 0 {
			t.Errorf("%s has the interval %s, which is no multiple of 10s", g.Name, g.Interval)
		}
		for _, r := range g.Rules {
			expr := r.Data[0].Model["expr"].(string)
			want[expr]--
			if r.Data[0].DatasourceUID != "here" || r.Condition != r.Data[2].RefID || r.NoDataState != "OK" {
				t.Errorf("%s: %+v", r.Title, r)
			}
			if uids[r.UID] || titles[r.Title] || !regexp.MustCompile(`^[a-z0-9-]{1,40}$`).MatchString(r.UID) {
				t.Errorf("the UID %q or the title %q is invalid or not unique", r.UID, r.Title)
			}
			uids[r.UID], titles[r.Title] = true, true
			if over := time.Duration(r.Missing) * time.Duration(g.Interval); r.KeepFiringFor == 0 && r.Missing != 1 || r.KeepFiringFor > 0 && (over < time.Duration(r.KeepFiringFor) || over >= time.Duration(r.KeepFiringFor+g.Interval)) {
				t.Errorf("%s: it ends %s after its series, not after %s", r.Title, over, r.KeepFiringFor)
			}
			if says := r.ExecErrState == "Error"; says != strings.HasPrefix(r.Title, rules.AlertProberSilent) || !says && r.ExecErrState != "KeepLast" {
				t.Errorf("%s: the state for a failed query is %s", r.Title, r.ExecErrState)
			}
			if all := fmt.Sprint(r.Labels); strings.Contains(all, "$") {
				t.Errorf("%s: a dollar sign in a label would be expanded: %s", r.Title, all)
			}
			for name, text := range r.Annotations {
				expand(t, r.Title+" "+name, text)
			}
		}
	}
	for expr, missing := range want {
		if missing != 0 {
			t.Errorf("%d of %s", missing, expr)
		}
	}
}

// expand expands a text. The result must not contain a dollar sign that Grafana would expand.
func expand(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, "${") {
		t.Errorf("%s: this would be expanded: %s", what, text)
	}
	type value struct{ Value float64 }
	data := struct {
		Labels map[string]string
		Values map[string]value
	}{map[string]string{"target": "chat", "workload": "w", "slo": "s", "turn": "first", "instance": "i", "reason": "late", "model": "m"}, map[string]value{"query": {0.25}}}
	text = "{{- $labels := .Labels -}}{{- $values := .Values -}}" + text
	none := func(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }
	got, err := template.NewTemplateExpander(t.Context(), text, what, data, 0, none, nil, []string{"missingkey=invalid"}).Expand()
	// A description may be all answers to queries.
	if err != nil || got == "" && strings.HasSuffix(what, "summary") || strings.Contains(got, "%!") || strings.Contains(got, "no value") {
		t.Errorf("%s: %q (%v)", what, got, err)
	}
}

// TestRecordingIsTheRest: the recording rules and the alerts together are all rules.
func TestRecordingIsTheRest(t *testing.T) {
	generated, err := rules.Generate(usual())
	if err != nil {
		t.Fatal(err)
	}
	count := func(r rules.Rules) (n int) {
		for _, g := range r.Groups.Groups {
			n += len(g.Rules)
		}
		return n
	}
	alerts, recording := count(generated.Alerts()), count(generated.Recording())
	if alerts == 0 || recording == 0 || alerts+recording != count(generated) {
		t.Errorf("%d alerts and %d recorded series of %d rules", alerts, recording, count(generated))
	}
	if _, err := generated.Recording().PrometheusYAML(); err != nil {
		t.Error(err)
	}
}
