package rules_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// TestSummariesNameTheChangeBefore: the summaries of a regression and of an outage name the latest change of the
// target within 10 minutes before their start, and no other change. Its text is not a template.
func TestSummariesNameTheChangeBefore(t *testing.T) {
	const text = `vllm "0.33.1" {{ .Value }}`
	for name, tt := range map[string]struct {
		alert   string
		before  time.Duration // from the change to the start of the fault
		target  string
		changed bool
	}{
		"regression":       {rules.AlertRegression, 4 * time.Minute, "a", true},
		"outage":           {rules.AlertTargetDown, 4 * time.Minute, "a", true},
		"change seen late": {rules.AlertTargetDown, -time.Minute, "a", true},
		"long before":      {rules.AlertRegression, 11 * time.Minute, "a", false},
		"after":            {rules.AlertRegression, -4 * time.Minute, "a", false},
		"another target":   {rules.AlertTargetDown, 4 * time.Minute, "b", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, of("a", "b"))
			job := []string{"target", "a", "workload", "chat"}
			s.pass(3 * time.Minute)
			start, want := s.now, "a/chat: turns fail (stall)"
			changed := start.Add(-tt.before)
			s.set("x", metrics.Change, float64(changed.Unix()), "target", tt.target, "change", text)
			s.set("x", metrics.Change, float64(changed.Add(-time.Minute).Unix()), "target", tt.target, "change", "an older change")
			if tt.alert == rules.AlertRegression {
				want = "a/chat: ttft of first turns is 3.00 times the baseline since " + start.Format("15:04 MST")
				for series, v := range map[string]float64{metrics.PageScore: 2, metrics.RegressionRatio: 3, metrics.RegressionSince: float64(start.Unix())} {
					s.set("x", series, v, append(job, "turn", "first", "signal", "ttft")...)
				}
			}
			for i := range 8 {
				if tt.alert == rules.AlertTargetDown {
					s.set("x", metrics.ConsecutiveFailed, 9, job...)
					s.set("x", metrics.Failing, s.now.Sub(start).Seconds(), job...)
					s.set("x", metrics.TurnFailures, float64(i), append(job, "turn", "first", "reason", string(probe.Stall))...)
				}
				s.pass(15 * time.Second)
			}
			if tt.changed {
				want += ", after a change at " + changed.Format("15:04 MST") + ": " + text
			}
			if got := s.said(tt.alert).Get("summary"); got != want {
				t.Errorf("the summary is\n%q, want\n%q", got, want)
			}
		})
	}
}
