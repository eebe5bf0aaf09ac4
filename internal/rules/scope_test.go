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
func shared(t *testing.T, scope rules.Scope) *scene {
	in := usual()
	in.Scope = scope
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

// TestMatchIsOneInstallation: a fault of another installation does not page here, and its probers do not
// count.
func TestMatchIsOneInstallation(t *testing.T) {
	s := shared(t, rules.Scope{Match: `namespace="x"`, Keep: []string{"cluster"}, Targets: []string{"team"}})
	s.set("y", metrics.SLOObjective, 0.5, "slo", "theirs")
	failing9(s, "y", 9)
	s.score("y", metrics.PageScore, "a", "first", "ttft", 2)
	wantAlerts(t, "faults of the other", s.pass(20*time.Minute))

	failing9(s, "x", 6)
	wantAlerts(t, "a fault of ours", s.pass(time.Minute), rules.AlertTargetDown+" a page")
	var down labels.Labels
	for _, a := range s.Alerts() {
		if a.Labels.Get(labels.AlertName) == rules.AlertTargetDown {
			down = a.Labels
		}
	}
	for name, want := range map[string]string{"cluster": "c1", "namespace": "x", "team": "blue", "pod": ""} {
		if got := down.Get(name); got != want {
			t.Errorf("the alert's label %s is %q, want %q", name, got, want)
		}
	}
	if got := s.said(rules.AlertTargetDown).Get("description"); !strings.Contains(got, "The last 6 consecutive turns failed") {
		t.Errorf("the page counts the turns of another installation: %q", got)
	}
	failing9(s, "x", 0)
	s.pass(20 * time.Minute)
	s.drop("x|")
	if got := strings.Join(s.pass(6*time.Minute), " "); !strings.Contains(got, rules.AlertProberSilent+" page") {
		t.Errorf("our probers are gone, and of the other there is one: %q began", got)
	}
}

// TestKeptLabelsAreJudgedApart: targets of the same name are judged separately, and shared faults are found
// within a cluster.
func TestKeptLabelsAreJudgedApart(t *testing.T) {
	s := shared(t, rules.Scope{Keep: []string{"namespace", "pod"}})
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
		s := shared(t, rules.Scope{Keep: []string{"cluster", "pod"}})
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

// TestTextsAskWhatTheyAreAbout: with a scope, the queries in the texts of alerts select only series of the
// scope.
func TestTextsAskWhatTheyAreAbout(t *testing.T) {
	in := fixed()
	in.Scope = rules.Scope{Match: `namespace="x"`, Keep: []string{"cluster"}, Targets: []string{metrics.LabelService, "team"}}
	var alert, query string
	about := map[string]string{"namespace": "x", "cluster": "c1"}
	for _, l := range []string{"target", "workload", "service", "worker", "slo", "turn", "reason", "instance", "signal"} {
		about[l] = "some-" + l
	}
	asked := map[string]int{}
	ask := func(_ context.Context, q string, _ time.Time) (promql.Vector, error) {
		asked[alert]++
		query = q
		e, err := parser.NewParser(parser.Options{}).ParseExpr(q)
		if err != nil {
			t.Errorf("%s asks %s: %v", alert, q, err)
			return nil, err
		}
		for _, selector := range parser.ExtractSelectors(e) {
			if !slices.ContainsFunc(selector, func(m *labels.Matcher) bool { return m.String() == `namespace="x"` }) {
				t.Errorf("%s asks of all namespaces: %s", alert, q)
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
	for _, name := range []string{rules.AlertTargetDown, rules.AlertReplicaSlow, rules.AlertProberStarved, rules.AlertFleetRegression} {
		if asked[name] == 0 {
			t.Errorf("%s asks nothing", name)
		}
	}
}

func TestScopeRefuses(t *testing.T) {
	for want, scope := range map[string]rules.Scope{
		`matchers "namespace": write some of PromQL, for example namespace="x"`: {Match: "namespace"},
		`matchers "a=\"` + "`" + `\"": write some of PromQL`:                    {Match: "a=\"`\""},
		`label "target": name a label that the scrape adds`:                     {Match: `target="a"`},
		`label "a-b": name a label that the scrape adds`:                        {Keep: []string{"a-b"}},
	} {
		in := usual()
		in.Scope = scope
		if _, err := rules.Generate(in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error is %v, want %s …", scope, err, want)
		}
	}
}
