package review

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// TestSessionsOfALog: a log of turns counts the same sessions as the sidecar: a good one, one that fails and one that
// is too slow.
func TestSessionsOfALog(t *testing.T) {
	objectives := []slo.Objective{{Name: "task", SLI: slo.Session, Threshold: 10 * time.Minute, Objective: 0.99}}
	live := Day{}
	var lines []byte
	for trace, last := range map[string]struct {
		after   time.Duration
		outcome probe.Outcome
	}{"good": {time.Minute, probe.Success}, "fails": {2 * time.Minute, probe.Stall}, "slow": {time.Hour, probe.Success}} {
		c := probe.Conversation{Target: "t", Workload: "w", Sent: noon.Add(-time.Second), End: noon.Add(last.after), Outcome: last.outcome}
		live.CountSession(c, objectives)
		first, second := turn(noon, probe.Success), turn(c.End, last.outcome)
		second.Kind = probe.Followup
		for _, r := range []probe.Result{first, second} {
			r.TraceID = trace
			logged := turnlog.FromResult(&r)
			lines = logged.Append(lines)
		}
	}
	counted := func(text string) (*Report, error) {
		path := filepath.Join(t.TempDir(), "turns.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := turnlog.Open([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		return FromTurns(log, objectives, func(probe.Key) *workload.Price { return nil }, 24*time.Hour)
	}
	sorted := lineOrder(string(lines))
	r, err := counted(sorted)
	if err != nil {
		t.Fatal(err)
	}
	if o := live.Objectives[0]; len(r.Jobs) != 1 || len(r.Jobs[0].Objectives) != 1 || r.Jobs[0].Objectives[0].Judged != o.Judged || r.Jobs[0].Objectives[0].Bad != o.Bad || o.Bad != 2 {
		t.Errorf("%+v, want 2 of 3 sessions bad, as in %+v", r.Jobs, o)
	}
	if _, err := counted(strings.ReplaceAll(sorted, "trace_id", "trace")); err == nil || !strings.Contains(err.Error(), "has no trace_id") {
		t.Errorf("without trace IDs: %v", err)
	}
}

// lineOrder sorts lines by their text, which begins with the time.
func lineOrder(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}
