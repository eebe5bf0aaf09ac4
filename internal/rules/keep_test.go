package rules_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// shared returns a Prometheus with two installations, in the namespaces x and y, that have a target of the
// same name. The rules belong to x.
func shared(t *testing.T, keep ...string) *scene {
	in := usual()
	in.KeepLabels = keep
	s := newScene(t, in)
	s.drop("|")
	s.scraped = map[string][]string{
		"x": {"cluster", "c1", "namespace", "x", "pod", "p1", "team", "blue"},
		"y": {"cluster", "c1", "namespace", "y", "pod", "p2", "team", "red"},
	}
	for _, instance := range []string{"x", "y"} {
		s.set(instance, metrics.BuildInfo, 1)
		s.set(instance, metrics.SLOObjective, ttft.Objective, "slo", "ttft")
		s.set(instance, metrics.SLOThreshold, ttft.Threshold.Seconds(), "slo", "ttft")
		s.set(instance, metrics.SLOWindow, ttft.Window.Seconds(), "slo", "ttft")
		s.job(instance, "a")
	}
	return s
}

func failing9(s *scene, instance string, n float64) {
	s.set(instance, metrics.ConsecutiveFailed, n, "target", "a", "workload", "chat")
}

// TestKeptLabelsAreJudgedApart: targets of the same name are judged separately, and shared faults are found
// within a cluster.
func TestKeptLabelsAreJudgedApart(t *testing.T) {
	s := shared(t, "namespace", "pod")
	failing9(s, "y", 9)
	wantAlerts(t, "one of two", s.pass(time.Minute), rules.AlertTargetDown+" a page")
	for _, a := range s.Alerts() {
		if a.Labels.Get(labels.AlertName) == rules.AlertTargetDown && a.Labels.Get("namespace")+a.Labels.Get("pod") != "yp2" {
			t.Errorf("the alert has the labels %s", a.Labels)
		}
	}
}

// TestLostWhereAnotherIs: a prober in another cluster with a target of the same name does not hide the loss
// of a prober. A replica that replaces another prober does.
func TestLostWhereAnotherIs(t *testing.T) {
	for cluster, want := range map[string][]string{"c1": nil, "c2": {rules.AlertTargetNoSamples + " a page c1 p1"}} {
		if testing.Short() && cluster == "c1" {
			continue
		}
		s := shared(t, "cluster", "pod")
		s.drop("y|")
		s.scraped["w"] = []string{"cluster", "c1", "namespace", "x", "pod", "p0", "team", "blue"}
		s.scraped["y"][1] = cluster
		for _, instance := range []string{"w", "y"} {
			s.set(instance, metrics.BuildInfo, 1)
			s.job(instance, "a")
		}
		turns := 0.
		pass := func(minutes int, alive ...string) []string {
			for range minutes {
				turns += 12
				for _, instance := range alive {
					s.set(instance, metrics.SchedulerHeartbeat, float64(s.now.Unix()), "target", "a", "workload", "chat")
					s.set(instance, metrics.SLOTurns, turns, "target", "a", "workload", "chat", "slo", "ttft", "turn", "first")
				}
				s.pass(time.Minute)
			}
			return slices.DeleteFunc(s.Firing("target", "severity", "cluster", "pod"), func(a string) bool {
				return !strings.HasPrefix(a, rules.AlertTargetNoSamples)
			})
		}
		wantAlerts(t, "all are there", pass(6, "w", "x", "y"))
		s.drop("w|")
		wantAlerts(t, "one has taken the place of another", pass(25, "x", "y"))
		s.drop("x|")
		wantAlerts(t, "gone for minutes, the other is in "+cluster, pass(14, "y"))
		wantAlerts(t, "gone for good, the other is in "+cluster, pass(12, "y"), want...)
	}
}

// TestTextsAskAboutKeptLabels: the queries in the texts of alerts about a target select its kept labels.
func TestTextsAskAboutKeptLabels(t *testing.T) {
	in := fixed()
	in.KeepLabels, in.TargetLabels = []string{"cluster"}, []string{metrics.LabelService, "team"}
	var alert, query string
	about := map[string]string{"cluster": "c1"}
	for _, l := range []string{"target", "workload", "service", "worker", "slo", "turn", "reason", "instance", "signal"} {
		about[l] = "some-" + l
	}
	asked := map[string]int{}
	ask := func(_ context.Context, q string, _ time.Time) (promql.Vector, error) {
		query = q
		e, err := parser.NewParser(parser.Options{}).ParseExpr(q)
		if err != nil {
			t.Errorf("%s asks %s: %v", alert, q, err)
			return nil, err
		}
		for _, selector := range parser.ExtractSelectors(e) {
			if strings.Contains(q, `"some-`) && slices.ContainsFunc(selector, func(m *labels.Matcher) bool { return m.String() == `cluster="c1"` }) {
				asked[alert]++
			}
		}
		return promql.Vector{{Metric: labels.FromMap(about), F: 1}}, nil
	}
	for _, g := range generate(t, in).Groups.Groups {
		for _, r := range g.Rules {
			alert = r.Alert
			for _, text := range r.Annotations {
				data := template.AlertTemplateData(about, nil, "", promql.Sample{F: 1, Metric: labels.FromMap(about)})
				text = "{{ $labels := .Labels }}{{ $value := .Value }}" + text
				got, err := template.NewTemplateExpander(t.Context(), text, alert, data, 0, ask, &url.URL{}, nil).Expand()
				if err != nil || strings.Contains(got+query, "%!") {
					t.Errorf("%s says %q, and asked %s: %v", alert, got, query, err)
				}
			}
		}
	}
	for _, name := range []string{rules.AlertTargetDown, rules.AlertRegression, rules.AlertProberStarved} {
		if asked[name] == 0 {
			t.Errorf("%s asks about no cluster", name)
		}
	}
}
