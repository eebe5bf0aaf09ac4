package sidecar

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
)

func TestJournal(t *testing.T) {
	var out strings.Builder
	j := newJournal(slog.New(slog.NewTextHandler(&out, nil)), func(job probe.Key) string {
		return map[string]string{"young": "only failures"}[job.Target]
	})
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
	j.Observe(probe.Result{Target: "young", Workload: "w", Outcome: probe.Success, End: start})
	if strings.Count(out.String(), "learning=") != 1 || !strings.Contains(out.String(), `learning="only failures" target=young`) {
		t.Errorf("the log does not say what can page while latencies are learned, of that job alone:\n%s", out.String())
	}
}

// TestBursts: the log has the begin of each burst, and its end with the turns in it.
func TestBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		j := newJournal(slog.New(slog.NewTextHandler(&out, nil)), func(probe.Key) string { return "" })
		for _, e := range []probe.Event{
			probe.Paced{Target: "a", Workload: "w", Rate: 0.1},
			probe.Result{Target: "a", Workload: "w", Outcome: probe.Success},
			probe.Paced{Target: "a", Workload: "w", Rate: 1, Why: "failed"},
			probe.Result{Target: "a", Workload: "w", Outcome: probe.Success},
			probe.Result{Target: "a", Workload: "w", Outcome: probe.HTTP5xx},
		} {
			j.Observe(e)
		}
		time.Sleep(90 * time.Second)
		j.Observe(probe.Paced{Target: "a", Workload: "w", Rate: 0.1})
		j.Observe(probe.Paced{Target: "a", Workload: "w", Rate: 0.2}) // another rate, by a reload
		for text, want := range map[string]int{
			"A burst began": 1, "reason=failed rate=1": 1, "The burst ended": 1, "lasted=1m30s turns=2 failed=1 rate=0.1": 1,
		} {
			if n := strings.Count(out.String(), text); n != want {
				t.Errorf("%q is %d times in the log, want %d:\n%s", text, n, want, out.String())
			}
		}
	})
}
