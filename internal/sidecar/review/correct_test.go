package review

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// TestCorrectObjective: the kept days and a log of turns count the same right and wrong answers. Foreign answers are bad,
// turns that asked for no code do not count.
func TestCorrectObjective(t *testing.T) {
	objective := slo.Objective{Name: "correct", SLI: slo.Correct, Objective: 0.99}
	dir := t.TempDir()
	state, log := filepath.Join(dir, "state"), filepath.Join(dir, "turns.jsonl")
	c := NewCounter()
	job := sink.Job{Objectives: []slo.Objective{objective}}
	job.Target.Name, job.Workload.Name = "t", "w"
	c.Add(job)
	var lines []byte
	for i, result := range []recall.Result{"", recall.Right, recall.Right, recall.Wrong, recall.Foreign} {
		r := turn(noon.Add(time.Duration(i)*time.Minute), probe.Success)
		r.Recall.Result = result
		c.Observe(r)
		logged := turnlog.FromResult(&r)
		lines = logged.Append(lines)
	}
	for path, text := range map[string][]byte{log: lines, state + DaysFile: c.Save(true)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	turns, err := turnlog.Open([]string{log})
	if err != nil {
		t.Fatal(err)
	}
	fromTurns, err := FromTurns(turns, []slo.Objective{objective}, func(probe.Key) *workload.Price { return nil }, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	fromState, err := FromState(state, 24*time.Hour, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Report{fromTurns, fromState} {
		if len(r.Jobs) != 1 || len(r.Jobs[0].Objectives) != 1 || r.Jobs[0].Objectives[0].Judged != 4 || r.Jobs[0].Objectives[0].Bad != 2 {
			t.Errorf("%s: %+v, want 2 of 4 answers bad", r.Source, r.Jobs)
		}
	}
}
