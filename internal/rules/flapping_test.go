package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// TestFlappingFault: a fault that comes and goes pages at most four times an hour, although each
// recovery is soon seen.
func TestFlappingFault(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates an hour; make test-long runs it")
	}
	for _, bad := range []int{2, 3} {
		h := newHouse(t, usual(), 1)
		h.scrapes(30 * time.Minute)
		began, pageBefore := 0, false
		for minute := range 60 {
			if behaving(ok)(h); minute%6 < bad {
				behaving(slow)(h)
			}
			h.run(time.Minute)
			page := slices.Contains(pages(h), rules.AlertSLOFastBurn)
			if page && !pageBefore {
				began++
			}
			pageBefore = page
		}
		if began < 1 || began > 4 {
			t.Errorf("%d of 6 minutes are bad: %d pages in an hour, want 1 to 4", bad, began)
		}
	}
}

// clusters is a scene of two clusters with three targets each and a fault of their own: in x connections
// are refused, in y answers end with an error and requests wait.
func clusters(t *testing.T) *scene {
	reasons := map[string]string{"x": "connect_error", "y": "http_5xx"}
	targets := map[string][]string{"x": {"a", "b", "c"}, "y": {"e", "f", "g"}}
	in := of(slices.Concat(targets["x"], targets["y"])...)
	in.KeepLabels, in.Jobs[0].ServerMetrics = []string{"cluster"}, true
	s := newScene(t, in)
	s.order, s.scraped = nil, map[string][]string{"x": {"cluster", "one"}, "y": {"cluster", "two"}}
	set := func(value float64) {
		for instance, names := range targets {
			for _, name := range names {
				s.set(instance, metrics.ConsecutiveFailed, min(9, value), "target", name, "workload", "chat")
				s.set(instance, metrics.TurnFailures, value, "target", name, "workload", "chat", "turn", "first", "reason", reasons[instance])
			}
		}
	}
	for instance, names := range targets {
		s.set(instance, metrics.BuildInfo, 1)
		for _, name := range names {
			s.job(instance, name)
			s.set(instance, "synthetic_target_info", 1, "target", name, "url", "http://gateway-"+instance)
			s.set(instance, metrics.ServerMetricsUp, 1, "target", name)
		}
	}
	s.set("y", metrics.ServerWaiting, 50, "target", "e")
	set(0)
	s.pass(3 * time.Minute)
	for i := range 20 {
		set(float64(9 + i))
		s.pass(every)
	}
	return s
}

// TestSharedFaultsOfClusters: with a kept label, the page about a shared fault says only what holds for
// its own cluster.
func TestSharedFaultsOfClusters(t *testing.T) {
	s := clusters(t)
	said := map[string]string{}
	for _, a := range s.Alerts() {
		if a.Labels.Get("alertname") == rules.AlertFleetRegression {
			said[a.Labels.Get("cluster")] = a.Annotations.Get("summary") + "\n" + a.Annotations.Get("description")
		}
	}
	for cluster, want := range map[string]struct{ has, hasNot []string }{
		"one": {[]string{"3 targets share a fault: 3 fail (connect_error), all at http://gateway-x", rules.StepOf(rules.AlertFleetRegression, "connect_error"), "a/chat (connect_error)"}, []string{"http_5xx", "gateway-y", "queues", "e/chat"}},
		"two": {[]string{"3 targets share a fault: 3 fail (http_5xx), all at http://gateway-y; the server queues: 50 requests wait", "e/chat"}, []string{"connect_error", "gateway-x", "a/chat"}},
	} {
		for _, text := range want.has {
			if !strings.Contains(said[cluster], text) {
				t.Errorf("cluster %s lacks %q:\n%s", cluster, text, said[cluster])
			}
		}
		for _, text := range want.hasNot {
			if strings.Contains(said[cluster], text) {
				t.Errorf("cluster %s says %q of the other:\n%s", cluster, text, said[cluster])
			}
		}
	}
}

// TestSharedFaultCountsTargets: a target with two workloads that fail counts once.
func TestSharedFaultCountsTargets(t *testing.T) {
	s := newScene(t, of("a", "b", "c"))
	set := func(value float64) {
		for _, name := range []string{"a", "b", "c"} {
			for _, workload := range []string{"chat", "rag"} {
				s.set("x", metrics.ConsecutiveFailed, min(9, value), "target", name, "workload", workload)
				s.set("x", metrics.TurnFailures, value, "target", name, "workload", workload, "turn", "first", "reason", "connect_error")
			}
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		s.jobOf("x", name, "rag")
	}
	set(0)
	s.pass(3 * time.Minute)
	for i := range 20 {
		set(float64(9 + i))
		s.pass(every)
	}
	if got := s.said(rules.AlertFleetRegression).Get("summary"); !strings.HasPrefix(got, "3 targets share a fault: 3 fail (connect_error)") {
		t.Errorf("summary %q", got)
	}
}
