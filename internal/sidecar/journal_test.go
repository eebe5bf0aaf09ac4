package sidecar

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

func TestJournal(t *testing.T) {
	var out strings.Builder
	j := newJournal(slog.New(slog.NewTextHandler(&out, nil)))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, turn := range []struct {
		after   time.Duration
		outcome probe.Outcome
		want    string // "" for no line
	}{
		{0, probe.Success, "Turns succeed"},
		{10 * time.Second, probe.Success, ""},
		{2 * time.Minute, probe.HTTP5xx, "Turns fail"},
		{2*time.Minute + time.Second, probe.Stall, ""},
		{2*time.Minute + 2*time.Second, probe.Canceled, ""},
		{2*time.Minute + 3*time.Second, probe.NotSent, "A turn failed because of the prober itself"},
		{2*time.Minute + 4*time.Second, probe.ProberLate, ""},
		{2*time.Minute + 30*time.Second, probe.Success, ""}, // within a minute of the last line
		{3*time.Minute + time.Second, probe.Success, "Turns succeed"},
		{4*time.Minute + 2*time.Second, probe.Empty, "Turns fail"},
	} {
		before := len(out.String())
		j.Observe(probe.Result{Target: "a", Workload: "w", Outcome: turn.outcome, Err: "why", End: start.Add(turn.after)})
		logged := out.String()[before:]
		if (logged != "") != (turn.want != "") || !strings.Contains(logged, turn.want) {
			t.Errorf("after %v, %s: logged %q, want %q", turn.after, turn.outcome, logged, turn.want)
		}
	}
	for _, target := range []string{"b", "c"} {
		j.Observe(probe.Result{Target: target, Workload: "w", Outcome: probe.NotSent, Err: "why", End: start})
		if !strings.Contains(out.String(), "because of the prober itself\" target="+target) {
			t.Errorf("a fault of the prober in a job of %s is hidden by that of another job", target)
		}
	}
	j.Remove(probe.Key{Target: "a", Workload: "w"})
	before := len(out.String())
	j.Observe(probe.Result{Target: "a", Workload: "w", Outcome: probe.Empty, End: start})
	if !strings.Contains(out.String()[before:], "Turns fail") {
		t.Error("the first turn of a job that was removed and added is not logged")
	}
}
