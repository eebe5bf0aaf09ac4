package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// TestSizeIsConstant: the size of the rules does not depend on the number of targets, and no group has more
// than 20 rules, which is Mimir's limit.
func TestSizeIsConstant(t *testing.T) {
	pace := slo.Objective{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day}
	rates := []float64{4, 0.5, 0.05}
	for _, kinds := range []int{1, len(rates)} {
		size := 0
		for _, n := range []int{1, 100, 3000} {
			in := withSLOs(ttft, available, pace)()
			in.Jobs = nil
			for i := range max(n, kinds) {
				rate := rates[i%kinds]
				in.Jobs = append(in.Jobs, rules.Job{
					Target: fmt.Sprint("target-", i), Workload: "chat", TurnTimeout: 2 * time.Minute, ServerMetrics: true,
					ConversationsPerMinute: rate, TurnsPerMinute: 3 * rate,
				})
			}
			r := generate(t, in)
			text, err := r.PrometheusYAML()
			if err != nil {
				t.Fatal(err)
			}
			if size == 0 {
				size = len(text)
			}
			if len(text) != size {
				t.Errorf("%d targets at %d rates: %d bytes, and %d for one", n, kinds, len(text), size)
			}
			for _, g := range r.Groups.Groups {
				if len(g.Rules) > 20 {
					t.Errorf("group %s has %d rules", g.Name, len(g.Rules))
				}
			}
		}
	}
}

// probers returns a scene of many probers of one target, which is a shared deployment or one for each.
func probers(t *testing.T, n int, own bool) (s *scene, names []string) {
	s = newScene(t, of("a"))
	s.drop("|")
	s.own = own
	for i := range n {
		name := fmt.Sprint("prober-", i)
		names = append(names, name)
		s.set(name, metrics.BuildInfo, 1)
		s.job(name, "a")
	}
	return s, names
}

// TestDeadInstanceOfMany: N deployments have one target name and a prober each. If one deployment is down,
// it pages as soon as a target with its own name would.
func TestDeadInstanceOfMany(t *testing.T) {
	for _, n := range []int{4, 10} {
		if testing.Short() && n > 4 {
			continue
		}
		s, names := probers(t, n, true)
		wantAlerts(t, "all are well", s.pass(3*time.Minute))
		s.set(names[1], metrics.ConsecutiveFailed, 5, "target", "a", "workload", "chat")
		wantAlerts(t, fmt.Sprint("one of ", n), s.pass(time.Minute), rules.AlertTargetDown+" a page")
		if got, want := s.said(rules.AlertTargetDown).Get("description"), "Seen by prober-1. "; !strings.Contains(got, want) {
			t.Errorf("the page reads %q, want %q in it", got, want)
		}
		s.set(names[1], metrics.ConsecutiveFailed, 0, "target", "a", "workload", "chat")
		s.pass(6 * time.Minute)
		wantAlerts(t, "it is back", s.firing())
		s.set(names[1], metrics.ConsecutiveFailed, 5, "target", "a", "workload", "chat")
		s.set(names[1], metrics.ProberStarved, 1, "target", "a", "workload", "chat")
		wantAlerts(t, "its prober is starved", s.pass(15*time.Minute), rules.AlertTargetDown+" a page", rules.AlertProberStarved+" ticket")
	}
}

// TestOneProberOfAPair: an outage that only one of two probers of a deployment sees may be its own network.
// It pages after ten minutes.
func TestOneProberOfAPair(t *testing.T) {
	s, names := probers(t, 2, false)
	s.pass(12 * time.Minute)
	fail := func(name string, n float64) {
		s.set(name, metrics.ConsecutiveFailed, n, "target", "a", "workload", "chat")
	}
	fail(names[0], 20)
	wantAlerts(t, "one alone", s.pass(9*time.Minute))
	wantAlerts(t, "one alone for long", s.pass(2*time.Minute), rules.AlertTargetDown+" a page")
	if got, want := s.said(rules.AlertTargetDown).Get("description"), "Seen by prober-0. "; !strings.Contains(got, want) {
		t.Errorf("the page reads %q, want %q in it", got, want)
	}
	fail(names[0], 0)
	s.pass(20 * time.Minute)
	fail(names[0], 5)
	fail(names[1], 5)
	wantAlerts(t, "both", s.pass(time.Minute), rules.AlertTargetDown+" a page")
}

// TestReplacedProber: the jobs of a lost prober alert, except jobs that its successor does not have.
func TestReplacedProber(t *testing.T) {
	for name, tt := range map[string]struct {
		loaded   time.Duration // when the other took its configuration, after the end
		workload string        // of the other
		want     []string
	}{
		"another that was there before": {-time.Hour, "chat", []string{rules.AlertTargetNoSamples + " a page"}},
		"its successor":                 {time.Minute, "chat", nil},
		"another whose file was loaded anew, with another workload of a target": {time.Minute, "code", []string{
			rules.AlertTargetNoSamples + " a page", rules.AlertTargetNoSamples + " b page",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, of("a", "b"))
			s.set("y", metrics.BuildInfo, 1)
			s.jobOf("y", "b", tt.workload)
			alive := func(instance, target, workload string) {
				for _, name := range []string{metrics.SchedulerHeartbeat, metrics.Turns} {
					s.set(instance, name, float64(s.now.Unix()), "target", target, "workload", workload)
				}
			}
			for range 20 {
				s.pass(time.Minute)
				alive("x", "a", "chat")
				alive("x", "b", "chat")
				alive("y", "b", tt.workload)
			}
			s.drop("x|")
			s.set("y", metrics.ConfigLastReloadSuccess, float64(s.now.Add(tt.loaded).Unix()))
			for range 40 {
				s.pass(time.Minute)
				alive("y", "b", tt.workload)
			}
			var got []string
			for _, a := range s.Firing("target", "severity") {
				if strings.Contains(a, "NoSamples") {
					got = append(got, a)
				}
			}
			wantAlerts(t, "long after", got, tt.want...)
		})
	}
}
