package runfile_test

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// TestRecount judges by another objective. A level that the prober spoiled or the sweep gave up
// stays so under any objective.
func TestRecount(t *testing.T) {
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	level := func(change func(*runfile.Result)) *runfile.Run {
		b := runfile.Block{Seconds: 10, Outcomes: map[probe.Outcome]uint64{probe.Success: 2, probe.UserCanceled: 1}}
		r := runfile.Result{Variant: "a", Level: 2, Repetition: 1, State: runfile.Complete, Snapshots: []runfile.Snapshot{{Started: start, Seconds: 10, Blocks: []runfile.Block{b}}}}
		change(&r)
		return &runfile.Run{Variants: []string{"a"}, Results: []runfile.Result{r}}
	}
	log := func(outcomes ...probe.Outcome) turnlog.Next {
		return func() (*turnlog.Turn, error) {
			if len(outcomes) == 0 {
				return nil, io.EOF
			}
			turn := turnlog.Turn{
				At: start, Target: "a", Outcome: outcomes[0], Kind: probe.First, TTFT: probe.Some(time.Second), Duration: probe.Some(2 * time.Second),
				Study: &turnlog.Study{Level: 2, Repetition: 1, Phase: turnlog.Measured},
			}
			outcomes = outcomes[1:]
			return &turn, nil
		}
	}
	quick := []runfile.Objective{{Name: "ttft", SLI: slo.TTFT, ThresholdSeconds: 1.5, Objective: 0.5}}

	sized := slo.Objective{
		Name: "sized", SLI: slo.TTFT, Threshold: time.Second, PerThousand: 60 * time.Millisecond, Objective: 0.5,
		Turns: []probe.TurnKind{probe.First}, Uncached: slo.Tokens{From: 4000, Below: 32_000},
	}
	if got := runfile.ObjectiveOf(sized).Judging(); !reflect.DeepEqual(got, sized) {
		t.Errorf("the file changes an objective to %+v", got)
	}

	late := level(func(r *runfile.Result) { r.Snapshots[0].Blocks[0].NotJudged = 1 })
	if err := late.Recount(log(probe.Success, probe.UserCanceled, probe.Success), quick); err != nil {
		t.Fatal(err)
	}
	if b := late.Results[0].Snapshots[0].Blocks[0]; b.SLOs["ttft"].Good != 2 || b.Good != 2 || !late.Results[0].Spoiled() {
		t.Errorf("%+v, spoiled: %t", b, late.Results[0].Spoiled())
	}

	grown := level(func(r *runfile.Result) {
		r.State, r.Verdict = runfile.EndedEarly, &runfile.LevelVerdict{Standing: runfile.Missed, Decided: runfile.DecidedMeasured, Lost: []string{"tpot"}}
	})
	if err := grown.Recount(log(probe.Success, probe.Success), quick); err != nil || !grown.Results[0].GaveUp() || grown.Results[0].Verdict.Lost != nil {
		t.Errorf("%v: a queue that grew is judged %+v", err, grown.Results[0].Verdict)
	}

	other := level(func(*runfile.Result) {})
	if err := other.Recount(log(probe.Success), quick); err == nil || !strings.Contains(err.Error(), "it has 1 of the 2 turns of a, level 2, repetition 1") {
		t.Errorf("a log of another run: %v", err)
	}
}
