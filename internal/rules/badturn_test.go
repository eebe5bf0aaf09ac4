package rules_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// said returns what the alerts of a name show of a bad turn.
func said(h *house, name string) []string {
	var out []string
	for _, a := range h.alerts() {
		text := a.Annotations.Get("description")
		if at := strings.Index(text, "One bad turn: "); a.Labels.Get("alertname") == name && at >= 0 {
			out = append(out, text[at:])
		}
	}
	return out
}

// TestAlertsNameABadTurn: alerts show a recent bad turn, but no old one and none with another reason.
func TestAlertsNameABadTurn(t *testing.T) {
	h := newHouse(t, usual(), 1)
	h.scrapes(2 * time.Hour)                                                          // with a baseline it would be a regression
	behaving(with(ok, func(r *probe.Result) { r.TPOT = probe.Some(time.Second) }))(h) // bad to others alone
	h.scrapes(5 * time.Minute)
	behaving(slow)(h)
	h.run(15 * time.Minute)
	got := said(h, rules.AlertSLOFastBurn)
	if len(got) != 1 || !strings.HasPrefix(got[0], "One bad turn: trace prober-0-") || !strings.Contains(got[0], " turn, ttft, ") {
		t.Errorf("the alert shows the bad turns %q", got)
	}
}

// TestReplicasNameOneBadTurn: with several probers, the alert shows the bad turn that ended last.
func TestReplicasNameOneBadTurn(t *testing.T) {
	in := withSLOs(slo.Objective{Name: "up", SLI: slo.Availability, Objective: 0.99, Window: 30 * day, Turns: []probe.TurnKind{probe.First}})()
	h := newHouse(t, in, 3)
	h.scrapes(2 * time.Hour)
	h.probers[0].behave = failing(probe.HTTP5xx)
	h.scrapes(6 * time.Minute)
	h.probers[0].behave = ok
	h.scrapes(10 * time.Minute)
	h.probers[1].behave = failing(probe.Stall)
	h.probers[2].behave = failing(probe.ErrorEvent)
	h.run(14 * time.Minute)
	got := said(h, rules.AlertSLOFastBurn)
	if len(got) != 1 {
		t.Fatalf("the alerts say %q, want one alert", got)
	}
	text := got[0]
	if strings.Count(text, "trace") != 1 || strings.Contains(text, "prober-0") || strings.Contains(text, "http_5xx") {
		t.Errorf("the alert says %q, want the one turn that ended last", text)
	}
}

// TestDownNamesTheReasonOfNow: the page about an outage names its own reason, also if more turns failed for another one
// a minute and a half before.
func TestDownNamesTheReasonOfNow(t *testing.T) {
	s := newScene(t, of("a"))
	l := []string{"target", "a", "workload", "chat"}
	pass := func(d time.Duration, hung, refused float64) {
		for range int(d / every) {
			s.set("x", metrics.TurnFailures, hung, append(l, "turn", "first", "reason", "timeout_first_token")...)
			s.set("x", metrics.TurnFailures, refused, append(l, "turn", "first", "reason", "connect_error")...)
			s.pass(every)
		}
	}
	pass(5*time.Minute, 0, 0)
	pass(90*time.Second, 9, 0)
	s.set("x", metrics.ConsecutiveFailed, 5, l...)
	pass(every, 9, 2)
	pass(every, 9, 4)
	if got := s.said(rules.AlertTargetDown).Get("summary"); !strings.HasPrefix(got, "a/chat: turns fail (connect_error)") {
		t.Errorf("the page says %q", got)
	}
}
