package runfile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// turnBlock is the length of blocks in runs made from turn logs.
const turnBlock = 10 * time.Second

// Cell identifies a result and its turns.
type Cell struct {
	Variant    string
	Level      float64
	Repetition int
}

// Cell returns the cell of the result.
func (r Result) Cell() Cell { return Cell{r.Variant, r.Level, r.Repetition} }

// eachStudyTurn calls do for each turn of a study. It rejects a log without such turns.
func eachStudyTurn(next turnlog.Next, do func(t *turnlog.Turn, c Cell, r probe.Result)) error {
	any := false
	err := next.Each(func(t *turnlog.Turn) error {
		if s := t.Study; s != nil {
			any = true
			do(t, Cell{t.Target, s.Level, s.Repetition}, t.Result())
		}
		return nil
	})
	if err == nil && !any {
		err = errors.New(`no turn has a level: this is not the log of a study; use the "turns.jsonl.zst" that a sweep wrote`)
	}
	return err
}

// Recount judges all turns of a run, which next returns, by other objectives. It drops
// decisions by the former objectives. A log lacks the prober's lateness, so late turns are
// judged too; a level with too many of them stays Spoiled.
func (r *Run) Recount(next turnlog.Next, objectives []Objective) error {
	results := map[Cell]*Result{}
	for i := range r.Results {
		x := &r.Results[i]
		results[x.Cell()] = x
		gaveUp := x.GaveUp()
		if x.Verdict = nil; gaveUp {
			x.Verdict = &LevelVerdict{Standing: Missed, Decided: DecidedMeasured}
		}
		x.eachBlock(func(b *Block) { b.SLOs, b.Good = nil, 0 })
	}
	r.SLOs, r.Capacities = objectives, nil
	for _, v := range r.Variants {
		r.Capacities = append(r.Capacities, Capacity{Variant: v})
	}
	judged := make([]slo.Objective, len(objectives))
	for i, o := range objectives {
		judged[i] = o.Judging()
	}
	counted := map[*Result]uint64{}
	err := eachStudyTurn(next, func(t *turnlog.Turn, c Cell, turn probe.Result) {
		x := results[c]
		if x == nil || t.Study.Phase == turnlog.WarmUp || turn.Outcome.Own() {
			return
		}
		counted[x]++
		if t.Study.Phase == turnlog.Tail && x.Tail != nil {
			x.Tail.judge(&turn, judged)
		} else if b := x.blockAt(turn.End); b != nil {
			b.judge(&turn, judged)
		}
	})
	if err != nil {
		return err
	}
	return r.checkComplete(counted)
}

func (r *Run) checkComplete(counted map[*Result]uint64) error {
	for i := range r.Results {
		x := &r.Results[i]
		all, _ := countEnded(x.blocksAndTail())
		if n := counted[x]; n != all {
			return fmt.Errorf("it has %d of the %d turns of %s, level %g, repetition %d: it is not the log of this run.json; write both again with synthetic sweep --resume, or move the log away, so that quantiles are judged",
				n, all, x.Variant, x.Level, x.Repetition)
		}
	}
	return nil
}

func (r *Result) eachBlock(do func(b *Block)) {
	for i := range r.Snapshots {
		for j := range r.Snapshots[i].Blocks {
			do(&r.Snapshots[i].Blocks[j])
		}
	}
	if r.Tail != nil {
		do(r.Tail)
	}
}

// blockAt returns the block of a time. Times just outside the measurement, due to rounding,
// belong to the first or last block.
func (r *Result) blockAt(end time.Time) (found *Block) {
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		from := s.Started
		for j := range s.Blocks {
			if found == nil || !end.Before(from) {
				found = &s.Blocks[j]
			}
			from = from.Add(toDuration(s.Blocks[j].Seconds))
		}
	}
	return found
}

func toDuration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// FromTurns makes a run from its turn log, without objectives. What a log lacks (scrapes, gaps
// between tokens, the prober's lateness) is unknown.
func FromTurns(next turnlog.Next) (*Run, error) {
	run := &Run{Format: Format, Title: "Study from a turn log", LevelKind: Concurrency, Repetitions: 1}
	results, last := map[Cell]*Result{}, map[Cell]time.Time{}
	var order []Cell
	err := eachStudyTurn(next, func(t *turnlog.Turn, c Cell, turn probe.Result) {
		if t.Study.Rate {
			run.LevelKind = Rate
		}
		if t.Study.Phase == turnlog.WarmUp {
			return
		}
		x := results[c]
		if x == nil {
			x = &Result{Variant: c.Variant, Level: c.Level, Repetition: max(c.Repetition, 1), State: Complete, Snapshots: []Snapshot{{Started: turn.End}}}
			results[c], order = x, append(order, c)
		}
		if t.Study.Phase == turnlog.Tail {
			if x.Tail == nil {
				x.Tail = &Block{}
			}
			x.Tail.Observe(&turn, nil)
			return
		}
		last[c] = Later(last[c], turn.End)
		x.Snapshots[0].addTurn(turn)
	})
	for _, c := range order {
		x := results[c]
		x.Started = x.Snapshots[0].Started
		x.Snapshots[0].finish(last[c])
		if !slices.Contains(run.Variants, c.Variant) {
			run.Variants = append(run.Variants, c.Variant)
		}
		run.Repetitions = max(run.Repetitions, x.Repetition)
		run.Results = append(run.Results, *x)
	}
	if err != nil {
		return nil, err
	}
	if len(run.Results) == 0 {
		return nil, errors.New("every turn belongs to a warm-up: nothing was measured")
	}
	return run, run.Validate()
}

func (s *Snapshot) addTurn(turn probe.Result) {
	i := max(int(turn.End.Sub(s.Started)/turnBlock), 0)
	for len(s.Blocks) <= i {
		s.Blocks = append(s.Blocks, Block{Seconds: turnBlock.Seconds()})
	}
	s.Blocks[i].Observe(&turn, nil)
	if turn.Turn == 1 {
		s.ConversationStarts++
	}
}

// finish completes a snapshot after the last turn of a log.
func (s *Snapshot) finish(last time.Time) {
	turns, _ := countEnded(s.Blocks)
	s.Seconds = max(last.Sub(s.Started), time.Millisecond).Seconds()
	if turns > 1 { // n ends have n − 1 gaps between them
		s.Seconds *= float64(turns) / float64(turns-1)
	}
	inFlight := 0.0
	for i := range s.Blocks {
		b := &s.Blocks[i]
		inFlight += b.TurnSeconds / s.Seconds
		b.ScheduleLag, b.ReadLag, b.AddedTTFT, b.AddedGap = nil, nil, nil, nil // a log lacks them
	}
	if n := len(s.Blocks); n > 0 {
		s.Blocks[n-1].Seconds = max(s.Seconds-float64(n-1)*turnBlock.Seconds(), 1e-3)
	}
	s.InFlightMean = &inFlight
}

// Earlier returns the earlier time.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later time.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
