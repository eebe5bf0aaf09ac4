package backtest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/turnlog"
)

// openLog writes turns to a file and opens it as a log.
func openLog(t *testing.T, turns ...turnlog.Turn) *turnlog.Log {
	t.Helper()
	var lines []byte
	for _, turn := range turns {
		turn.Target, turn.Workload = "chat", "chat"
		if turn.Kind == "" {
			turn.Kind = probe.First
		}
		lines = turn.Append(lines)
	}
	path := filepath.Join(t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := turnlog.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// TestTurnsCountFromTheirEnd checks that each scrape shows the turns that had ended by then, and that
// a time-out without a logged length ends at its deadline. In a gap of the log the prober stays alive,
// without turns.
func TestTurnsCountFromTheirEnd(t *testing.T) {
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	success := func(sent, duration float64) turnlog.Turn {
		return turnlog.Turn{At: epoch().Add(second(sent)), Outcome: probe.Success, TTFT: probe.Some(second(duration) / 2), Duration: probe.Some(second(duration))}
	}
	log := openLog(t,
		success(0, 5), // in the warm-up
		success(20, 25), success(21, 1),
		turnlog.Turn{At: epoch().Add(second(30)), Outcome: probe.TimeoutFirstToken},
		success(200, 1),
	)
	survey, err := SurveyTurns(t.Context(), log, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if survey.Turns != 5 || !survey.First.Equal(epoch()) || !survey.Last.Equal(epoch().Add(200*time.Second)) {
		t.Errorf("survey %+v", survey)
	}
	src, err := newTurnSource(log, survey, []sink.Job{survey.Jobs[0].Job(nil, sink.DefaultPolicy())}, 15*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	from := epoch().Add(15 * time.Second)
	if err := src.warmUp(t.Context(), from, func(time.Time) {}); err != nil {
		t.Fatal(err)
	}
	store := NewStore()
	wanted := map[string]bool{"synthetic_turns_total": true, "synthetic_turns_in_flight": true, "synthetic_scheduler_heartbeat_timestamp_seconds": true}
	if err := src.Advance(t.Context(), store, epoch().Add(210*time.Second), wanted); err != nil {
		t.Fatal(err)
	}
	show := func(name, turn string) (values []float64) {
		for _, s := range store.byName[name] {
			if s.labels.Get("turn") == turn {
				for _, p := range s.points {
					values = append(values, p.F)
				}
			}
		}
		return values
	}
	// Scraped from 30 s to 210 s, every 15 s.
	for name, want := range map[string][]float64{
		"synthetic_turns_total":     {2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5},
		"synthetic_turns_in_flight": {2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if diff := cmp.Diff(want, show(name, "first")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	beats := show("synthetic_scheduler_heartbeat_timestamp_seconds", "")
	if len(beats) != 13 || beats[12]-beats[0] != 180 {
		t.Errorf("heartbeats %v: want one at each scrape", beats)
	}
}

// TestSurvey checks the rates and timeouts of a log.
func TestSurvey(t *testing.T) {
	slow := turnlog.Turn{At: epoch(), Outcome: probe.TimeoutFirstToken, Duration: probe.Some(45 * time.Second)}
	survey, err := SurveyTurns(t.Context(), openLog(t, slow, turnlog.Turn{At: epoch().Add(30 * time.Second), Outcome: probe.Success}, turnlog.Turn{At: epoch().Add(2 * time.Minute), Outcome: probe.Success, Duration: probe.Some(3 * time.Minute)}), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := survey.Jobs[0]
	if j.ConversationsPerMinute != 1.5 || j.TurnsPerMinute != 1.5 || j.Timeouts.FirstToken != 45*time.Second || j.Timeouts.Total != 3*time.Minute || j.Timeouts.Stall != 10*time.Second {
		t.Errorf("jobTotals %+v", j)
	}
	if job := j.Job(Objectives(), sink.DefaultPolicy()); len(job.Objectives) != 3 || job.Traffic.Rate != 0.025 || job.Target.Name != "chat" {
		t.Errorf("job %+v", job)
	}
}
