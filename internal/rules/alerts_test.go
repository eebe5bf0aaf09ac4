package rules_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

const day = 24 * time.Hour

// scenario is a script for a fleet of probers, with the alerts that must fire.
type scenario struct {
	name string
	// in returns the input of the rules; nil means usual.
	in func() rules.Input
	// replicas share the traffic; 0 means one.
	replicas int
	steps    []step
}

// step is a part of a script: a change, a time, and the alerts that fire at its end.
type step struct {
	do    func(*house)
	after time.Duration
	want  []string
}

// watched is the last part of a step, in which rules are evaluated. It is longer than any "for" and
// "keep_firing_for". Before it, Prometheus only scrapes, which is much faster.
const watched = 20 * time.Minute

// usual has one deployment with 12 turns a minute and one SLO.
func usual() rules.Input {
	return rules.Input{
		SLOs:       []slo.Objective{ttft},
		Jobs:       []rules.Job{{Target: "a", Workload: "chat", TurnsPerMinute: 12, ConversationsPerMinute: 4, TurnTimeout: 2 * time.Minute, ServerMetrics: true}},
		RunbookURL: "https://example.org/runbooks", DashboardURL: "https://grafana.example.org/d",
	}
}

var ttft = slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day}

// withServices is usual with targets that are replicas of a service.
func withServices() rules.Input {
	in := usual()
	in.TargetLabels, in.Discovery = []string{metrics.LabelService}, true
	return in
}

// withSLOs is usual with other objectives.
func withSLOs(objectives ...slo.Objective) func() rules.Input {
	return func() rules.Input {
		in := usual()
		in.SLOs = objectives
		return in
	}
}

// withJobs is usual with other traffic.
func withJobs(jobs ...rules.Job) func() rules.Input {
	return func() rules.Input {
		in := usual()
		in.Jobs = jobs
		return in
	}
}

// all returns a change of every prober.
func all(change func(*prober)) func(*house) {
	return func(h *house) {
		for _, p := range h.probers {
			change(p)
		}
	}
}

func behaving(b behaviour) func(*house) { return all(func(p *prober) { p.behave = b }) }

// healthy is a step of good turns, after which no alert may fire. It is longer than the hour of the longest
// window that a page reads.
var healthy = step{after: 80 * time.Minute}

func scenarios() []scenario {
	var s []scenario
	s = append(s, burnScenarios()...)
	s = append(s, trafficScenarios()...)
	s = append(s, targetScenarios()...)
	s = append(s, sampleScenarios()...)
	s = append(s, proberScenarios()...)
	return append(s, ruleScenarios()...)
}

func TestAlerts(t *testing.T) {
	for i, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() && i%20 != 1 {
				t.Skip("one in twenty is enough for a quick run; make test-long runs all")
			}
			s.play(t)
		})
	}
}

// play runs the steps and compares the alerts after each.
func (s scenario) play(t *testing.T) {
	t.Parallel()
	in := usual()
	if s.in != nil {
		in = s.in()
	}
	h := newHouse(t, in, max(1, s.replicas))
	delete(h.read, metrics.PageScore) // a page on a regression holds back what it explains
	delete(h.read, metrics.TicketScore)
	for i, step := range s.steps {
		if step.do != nil {
			step.do(h)
		}
		h.scrapes(max(0, step.after-watched))
		h.run(min(step.after, watched))
		got := slices.DeleteFunc(h.firing(), isRegression)
		if diff := gocmp.Diff(step.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("step %d: alerts that fire (-want +got):\n%s", i, diff)
		}
		checkAnnotations(t, h)
	}
}

// isRegression reports whether an alert compares with a baseline.
func isRegression(alert string) bool {
	name, _, _ := strings.Cut(alert, " ")
	return slices.Contains([]string{
		rules.AlertRegression, rules.AlertCachedRatioDrop,
	}, name)
}

// checkAnnotations checks the texts of alerts.
func checkAnnotations(t *testing.T, h *house) {
	t.Helper()
	for _, a := range h.Alerts() {
		name := a.Labels.Get("alertname")
		for _, key := range []string{"summary", "description", "runbook_url", "dashboard_url"} {
			text := a.Annotations.Get(key)
			if text == "" || strings.Contains(text, "error expanding") || strings.Contains(text, "no value") {
				t.Errorf("%s: annotation %s reads %q", name, key, text)
			}
		}
		if want := "https://example.org/runbooks/" + name + ".md"; a.Annotations.Get("runbook_url") != want {
			t.Errorf("%s: runbook_url is %q, want %q", name, a.Annotations.Get("runbook_url"), want)
		}
		if s := a.Labels.Get("severity"); s != "page" && s != "ticket" {
			t.Errorf("%s: severity is %q, want page or ticket", name, s)
		}
	}
}

// alertNames lists the names of all alerts.
var alertNames = sync.OnceValue(func() []string {
	r, err := rules.Generate(withServices())
	if err != nil {
		panic(err)
	}
	var names []string
	for _, g := range r.Groups.Groups {
		for _, rule := range g.Rules {
			if rule.Alert != "" && !slices.Contains(names, rule.Alert) {
				names = append(names, rule.Alert)
			}
		}
	}
	return names
})
