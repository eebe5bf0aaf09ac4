package rules_test

import (
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// TestSessionsInARegression: a page for a regression explains slow sessions. Sessions that fail page beside it.
func TestSessionsInARegression(t *testing.T) {
	for reason, want := range map[probe.Outcome][]string{
		probe.Success: {rules.AlertRegression + " a page"},
		probe.Stall:   {rules.AlertRegression + " a page", rules.AlertSLOFastBurn + " a page"},
	} {
		in := of("a")
		in.SLOs = []slo.Objective{session}
		s := newScene(t, in)
		s.set("x", metrics.SLOObjective, session.Objective, "slo", session.Name)
		s.score("x", metrics.PageScore, "a", "first", "ttft", 2)
		job := []string{"target", "a", "workload", "chat"}
		var began []string
		for i := range 80 {
			ended := float64(i)
			s.set("x", metrics.SLOTurns, ended, append(job, "turn", "session", "slo", session.Name)...)
			s.set("x", metrics.SLOViolations, ended, append(job, "turn", "session", "slo", session.Name)...)
			s.set("x", metrics.TurnFailures, 0, append(job, "turn", "first", "reason", string(probe.HTTP429))...)
			if reason.Failed() {
				s.set("x", metrics.TurnFailures, ended, append(job, "turn", "followup", "reason", string(reason))...)
			}
			began = append(began, s.pass(every)...)
		}
		wantAlerts(t, "sessions end with "+string(reason), began, want...)
	}
}

// TestTicketsNameSessions: the ticket of an objective on sessions speaks of sessions, other tickets do not.
func TestTicketsNameSessions(t *testing.T) {
	for text, objectives := range map[string][]slo.Objective{"Too many turns or sessions have missed": {session}, "Too many turns have missed": {ttft}} {
		in := usual()
		in.SLOs = objectives
		if rules, err := generate(t, in).PrometheusYAML(); err != nil || !strings.Contains(string(rules), text) {
			t.Errorf("the rules do not say %q: %v", text, err)
		}
	}
}
