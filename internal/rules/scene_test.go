package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

// scene is a Prometheus with all rules of an input, and with series that the test sets.
type scene struct {
	*promtest.Server
	now    time.Time
	values map[string]promtest.Sample // by instance and series
	order  []string
	own    bool // each instance has a deployment of its own
	slos   []slo.Objective
	// scraped are labels that the scrape gives an instance, or that its targets have.
	scraped map[string][]string
}

// every is the interval of scrapes and evaluations.
const every = 15 * time.Second

func newScene(t *testing.T, in rules.Input) *scene {
	file, err := generate(t, in).PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{Server: promtest.New(t, file, every), now: time.Unix(1_800_000_000, 0).UTC(), values: map[string]promtest.Sample{}, slos: in.SLOs}
	s.set("x", metrics.BuildInfo, 1)
	for _, j := range in.Jobs {
		s.job("x", j.Target)
	}
	return s
}

// job adds a job to an instance.
func (s *scene) job(instance, target string) { s.jobOf(instance, target, "chat") }

func (s *scene) jobOf(instance, target, workload string) {
	l := []string{"target", target, "workload", workload}
	s.set(instance, metrics.SchedulerHeartbeat, 1, l...)
	s.set(instance, metrics.Silence, 300, l...)
	s.set(instance, metrics.OutageTurns, 5, append(slices.Clone(l), "url", s.url(instance))...)
	s.set(instance, metrics.ConsecutiveFailed, 0, l...)
	s.set(instance, metrics.ProberStarved, 0, l...)
}

// url sets the URL that an instance probes.
func (s *scene) url(instance string) string {
	if s.own {
		return "http://" + instance
	}
	return "http://gateway"
}

// set sets the value of a series. A number of consecutive failures includes that they have lasted for long, and what
// objectives say of them.
func (s *scene) set(instance, name string, v float64, pairs ...string) {
	if name == metrics.ConsecutiveFailed {
		lasts := 0.0
		if v > 1 {
			lasts = 600
		}
		s.set(instance, metrics.Failing, lasts, pairs...)
		for _, o := range s.slos {
			s.set(instance, metrics.SLOMissing, min(lasts, 0.5), append(slices.Clone(pairs), "slo", o.Name)...)
		}
	}
	pairs = append(slices.Clone(pairs), s.scraped[instance]...)
	key := instance + "|" + named(name, pairs).String()
	if _, ok := s.values[key]; !ok {
		s.order = append(s.order, key)
	}
	s.values[key] = promtest.Sample{Labels: named(name, pairs), Value: v}
}

// fail sets the number of consecutive failures of targets.
func (s *scene) fail(n float64, targets ...string) {
	for _, name := range targets {
		s.set("x", metrics.ConsecutiveFailed, n, "target", name, "workload", "chat")
	}
}

// turns sets how many turns of a target an objective judged, and how many missed it.
func (s *scene) turns(o slo.Objective, target string, judged, missed float64) {
	l := []string{"target", target, "workload", "chat", "slo", o.Name}
	s.set("x", metrics.SLOObjective, o.Objective, "slo", o.Name)
	s.set("x", metrics.SLOTurns, judged, l...)
	s.set("x", metrics.SLOViolations, missed, l...)
}

// score sets a gauge of a signal.
func (s *scene) score(instance, name, target, signal string, v float64) {
	s.set(instance, name, v, "target", target, "workload", "chat", "signal", signal)
}

// drop ends the series of an instance whose labels contain a text.
func (s *scene) drop(text string) {
	s.order = slices.DeleteFunc(s.order, func(key string) bool { return strings.Contains(key, text) })
}

// pass waits, and returns the alerts that began to fire.
func (s *scene) pass(d time.Duration) []string {
	var began []string
	for range int(d / every) {
		s.now = s.now.Add(every)
		by := map[string][]promtest.Sample{"x": nil, "y": nil} // so that what is gone gets stale
		for _, key := range s.order {
			instance, _, _ := strings.Cut(key, "|")
			by[instance] = append(by[instance], s.values[key])
		}
		for instance, samples := range by {
			s.Scrape(s.now, instance, samples)
		}
		before := s.firing()
		s.Evaluate(s.now)
		for _, a := range s.firing() {
			if !slices.Contains(before, a) {
				began = append(began, a)
			}
		}
	}
	return began
}

// firing returns the alerts of the scene, except those on the prober, for which a scene lacks series.
func (s *scene) firing() []string {
	return slices.DeleteFunc(s.Firing("target", "severity"), func(a string) bool {
		return strings.Contains(a, "NoSamples") || strings.Contains(a, "Stuck")
	})
}

// said returns the annotations of an alert.
func (s *scene) said(name string) labels.Labels {
	for _, a := range s.Alerts() {
		if a.Labels.Get(labels.AlertName) == name {
			return a.Annotations
		}
	}
	return labels.EmptyLabels()
}

func wantAlerts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: alerts (-want +got):\n%s", what, diff)
	}
}

// of is usual with targets of these names and without objectives.
func of(targets ...string) rules.Input {
	in := usual()
	in.SLOs, in.Jobs = nil, nil
	for _, name := range targets {
		in.Jobs = append(in.Jobs, rules.Job{Target: name, Workload: "chat", TurnsPerMinute: 12, ConversationsPerMinute: 4})
	}
	return in
}
