package rules_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// only returns the value of the only series of an expression.
func (h *house) only(expr string) float64 {
	h.t.Helper()
	got := h.query(expr)
	if len(got) != 1 {
		h.t.Fatalf("%s gives %v, want one series", expr, got)
	}
	return slices.Collect(maps.Values(got))[0]
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestRecordedBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates three hours; make test-long runs it")
	}
	h := newHouse(t, usual(), 2)
	h.run(2 * time.Hour)
	near(t, "burn rate without a fault", h.only(rules.RecordBurnRate(time.Hour)), 0, 0)
	near(t, "budget before a fault", h.only(rules.RecordBudgetRemaining), 1, 0)

	// One turn in forty for an hour is 2.5 times the allowed rate.
	behaving(oneIn(40, slow, ok))(h)
	h.run(time.Hour)
	near(t, "burn rate", h.only(rules.RecordBurnRate(time.Hour)), 2.5, 0.2)
	near(t, "bad turns within an hour", h.only(rules.RecordViolations(time.Hour)), 18, 1.5)
	if got := h.query(rules.RecordBurnRate(time.Hour) + `{target="a", workload="chat", slo="ttft", sli="latency", turn="", instance=""}`); len(got) != 1 {
		t.Errorf("the labels are not target, workload, slo and sli: %v", h.query(rules.RecordBurnRate(time.Hour)))
	}

	// An hour of 3 h 20 had 2.5 % of bad turns: 0.75 % of the 1 % allowed.
	behaving(ok)(h)
	h.run(20 * time.Minute)
	near(t, "budget that is left", h.only(rules.RecordBudgetRemaining), 1-2.5*60/200, 0.08)
}

// TestNoRatioWithoutTurns: 0/0 must have no result, neither 0 nor NaN.
func TestNoRatioWithoutTurns(t *testing.T) {
	h := newHouse(t, usual(), 1)
	all(func(p *prober) { p.silent = true })(h)
	h.run(30 * time.Minute)
	for _, name := range []string{
		rules.RecordBurnRate(5 * time.Minute), rules.RecordBurnRate(time.Hour), rules.RecordBudgetRemaining,
	} {
		if got := h.query(name); len(got) > 0 {
			t.Errorf("%s without any turn is %v", name, got)
		}
	}
}

// TestFaultNeverReadsAsHealth: the prober is lost during a fault, in several ways. From the first page on,
// at least one page fires in every minute.
func TestFaultNeverReadsAsHealth(t *testing.T) {
	for name, fault := range map[string]behaviour{"slow": slow, "outage": failing(probe.ConnectError)} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "outage" {
				t.Skip("make test-long runs it")
			}
			t.Parallel()
			h := newHouse(t, usual(), 1)
			h.scrapes(8 * time.Hour)
			behaving(fault)(h)
			h.run(15 * time.Minute)
			p := h.probers[0]
			for _, loss := range lossesOf(p) {
				loss.do()
				for minute := range 25 {
					if len(pages(h)) == 0 {
						t.Fatalf("%s, minute %d: no page fires", loss.name, minute)
					}
					h.run(time.Minute)
				}
			}
			behaving(ok)(h)
			h.scrapes(100 * time.Minute)
			h.run(20 * time.Minute)
			if got := pages(h); len(got) > 0 {
				t.Errorf("two hours after the fault %v still page", got)
			}
		})
	}
}

// loss is a way to lose a prober.
type loss struct {
	name string
	do   func()
}

func lossesOf(p *prober) []loss {
	return []loss{
		{"nothing is lost", func() {}},
		{"the process dies", func() { p.down = true }},
		{"it comes back and ends no turn", func() { p.down, p.silent = false, true; p.restart() }},
		{"it dies again", func() { p.down = true }},
		{"it comes back and sees the fault", func() { p.down, p.silent = false, false; p.restart() }},
		{"its loops hang", func() { p.stuck = true }},
		{"it dies hanging", func() { p.down = true }},
		{"it dies a last time", func() { p.down = true }},
		{"it comes back for good, and the fault goes on", func() { p.down, p.stuck = false, false; p.restart() }},
	}
}

// TestFaultOfALostProber: two probers have a target each, and one of them dies in the middle of a fault. At
// least one page fires in every minute, also if no other series has the labels to keep.
func TestFaultOfALostProber(t *testing.T) {
	for name, tc := range map[string]struct {
		fault     behaviour
		perMinute float64
		keep      []string
	}{
		"outage":                  {failing(probe.ConnectError), 4, nil},
		"slow":                    {slow, 4, nil},
		"outage, at a small rate": {failing(probe.ConnectError), 0.2, nil},
		"outage in a cluster":     {failing(probe.ConnectError), 4, []string{"cluster"}},
		"slow in a cluster":       {slow, 4, []string{"cluster"}},
		"outage, seen by a pod":   {failing(probe.ConnectError), 4, []string{"cluster", "pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "outage in a cluster" {
				t.Skip("make test-long runs it")
			}
			t.Parallel()
			h := houseOfEach(t, tc.perMinute, tc.keep, "a", "b")
			h.scrapes(3 * time.Hour)
			h.probers[1].behave = tc.fault
			h.run(45 * time.Minute)
			h.probers[1].down = true
			for minute := range 90 {
				if len(pages(h)) == 0 {
					t.Fatalf("minute %d: no page fires", minute)
				}
				h.run(time.Minute)
			}
			h.probers[1].down, h.probers[1].behave = false, ok
			h.probers[1].restart()
			h.run(15 * time.Minute)
			if got := h.firing(); slices.Contains(got, rules.AlertTargetNoSamples+" b chat") {
				t.Errorf("15 minutes after its prober came back: %v", got)
			}
		})
	}
}

// houseOfEach returns a house with a prober for each target.
func houseOfEach(t *testing.T, perMinute float64, keep []string, targets ...string) *house {
	var jobs []rules.Job
	for _, name := range targets {
		jobs = append(jobs, rules.Job{Target: name, Workload: "chat", TurnsPerMinute: perMinute, ConversationsPerMinute: perMinute})
	}
	in := withJobs(jobs...)()
	in.KeepLabels = keep
	h := newHouse(t, in, len(jobs))
	for i, p := range h.probers {
		p.share, p.jobs, p.configured = 1, p.jobs[i:i+1], p.configured[i:i+1]
		p.restart()
	}
	return h
}

func pages(h *house) []string {
	var out []string
	for _, a := range h.Alerts() {
		if a.Labels.Get("severity") == "page" {
			out = append(out, a.Labels.Get("alertname"))
		}
	}
	return out
}

// TestWhatAPageSays checks the texts and labels of a page.
func TestWhatAPageSays(t *testing.T) {
	h := newHouse(t, usual(), 1)
	h.scrapes(8 * time.Hour)
	behaving(with(failing(probe.ConnectError), func(r *probe.Result) { r.Err = "connection refused" }))(h)
	h.run(10 * time.Minute)
	alerts := slices.DeleteFunc(h.Alerts(), func(a *promrules.Alert) bool { return isRegression(a.Labels.Get("alertname")) })
	if len(alerts) != 1 {
		t.Fatalf("%v fire, want only %s", h.firing(), rules.AlertTargetDown)
	}
	for key, want := range map[string]string{
		"summary":       "a/chat: turns fail (connect_error) since 16:01 UTC",
		"description":   "Nothing accepts connections at the URL. First step: " + rules.StepOf(rules.AlertTargetDown, "connect_error") + " The last 40 consecutive turns failed, not counting refusals for load (HTTP 429). Seen by prober-0. URL: http://gateway:8000/v1. ",
		"cause":         "connect_error",
		"since":         "2027-01-15T16:01:00Z",
		"runbook_url":   "https://example.org/runbooks/SyntheticTargetDown.md",
		"dashboard_url": "https://grafana.example.org/d/synthetic-target?var-target=a&var-workload=chat",
	} {
		if got := alerts[0].Annotations.Get(key); got != want {
			t.Errorf("%s reads %q, want %q", key, got, want)
		}
	}
	if got := alerts[0].Labels.String(); strings.Contains(got, "instance") {
		t.Errorf("labels %s: replicas must not page separately", got)
	}
}

// TestSaturationOfSharedServerIsOnePage: three targets of four miss an objective at the same time, without
// a baseline. One page names them.
func TestSaturationOfSharedServerIsOnePage(t *testing.T) {
	h := houseOfEach(t, 12, nil, "a", "b", "c", "d")
	h.scrapes(30 * time.Minute)
	for _, p := range h.probers[:3] {
		p.behave = slow
	}
	var got []string
	for range 12 {
		h.run(time.Minute)
		for _, name := range pages(h) {
			if !slices.Contains(got, name) {
				got = append(got, name)
			}
		}
	}
	if !slices.Equal(got, []string{rules.AlertFleetRegression}) {
		t.Errorf("%v page, want %s alone", got, rules.AlertFleetRegression)
	}
}

// TestWhatTheServersMetricsSay: summaries say what the target's own metrics show, and nothing that they
// do not show.
func TestWhatTheServersMetricsSay(t *testing.T) {
	for name, tt := range map[string]struct {
		series map[string]float64
		want   string
	}{
		"a queue":        {map[string]float64{metrics.ServerWaiting: 94, metrics.ServerRunning: 16, metrics.ServerKVUse: 0.98}, "; the server queues: 94 requests wait, 16 run, its KV cache is 98% full"},
		"a stuck engine": {map[string]float64{metrics.ServerWaiting: 3, metrics.ServerRunning: 16, metrics.ServerTokenAge: 45}, "; the server is stuck: it has requests, and none got a token for 45s"},
		"a stuck router": {map[string]float64{metrics.ServerWaiting: 20, metrics.ServerRunning: 0, metrics.ServerTokenAge: 460}, "; the server is stuck: it has requests, and none got a token for 7m 40s"},
		"frozen metrics": {map[string]float64{metrics.ServerWaiting: 0, metrics.ServerRunning: 0, metrics.ServerTokenAge: 45}, "; the server made no token for 45s, for any client"},
		"nothing":        {map[string]float64{metrics.ServerWaiting: 0, metrics.ServerRunning: 2, metrics.ServerTokenAge: 1}, ""},
		"no answer":      {map[string]float64{metrics.ServerMetricsUp: 0, metrics.ServerRunning: 2, metrics.ServerTokenAge: 90}, "; the server's metrics cannot be read either"},
	} {
		t.Run(name, func(t *testing.T) {
			in := of("a", "b")
			in.Jobs[0].ServerMetrics = true
			s := newScene(t, in)
			s.set("x", metrics.ServerMetricsUp, 1, "target", "a")
			for _, other := range []string{metrics.ServerWaiting, metrics.ServerRunning, metrics.ServerTokenAge} {
				s.set("x", other, 1000, "target", "b")
			}
			for series, v := range tt.series {
				s.set("x", series, v, "target", "a")
			}
			s.pass(3 * time.Minute)
			job := []string{"target", "a", "workload", "chat"}
			s.set("x", metrics.ConsecutiveFailed, 9, job...)
			for i := range 8 {
				s.set("x", metrics.TurnFailures, float64(i), append(job, "turn", "first", "reason", string(probe.TimeoutFirstToken))...)
				s.pass(15 * time.Second)
			}
			got := s.said(rules.AlertTargetDown).Get("summary")
			if want := "a/chat: turns fail (timeout_first_token) since 07:55 UTC" + tt.want; got != want {
				t.Errorf("the summary is %q, want %q", got, want)
			}
		})
	}
}
