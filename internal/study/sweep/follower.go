package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

// follower is a shard other than 0. It carries its share of the announced levels, and judges
// nothing.
type follower struct {
	*Client
	patience time.Duration
	at       step // current step
	missed   int  // number of levels that continued without it
}

// join posts signs of life until end is called, and waits until shard 0 has a sweep.
func (t *follower) join(ctx context.Context) (end func(), err error) {
	posting, stop := context.WithCancel(context.WithoutCancel(ctx))
	var posts sync.WaitGroup
	posts.Go(func() {
		t.run(posting, func() string {
			if ctx.Err() != nil {
				return "it was stopped"
			}
			return "it ended"
		})
	})
	end = func() {
		stop()
		posts.Wait()
	}
	if t.at, err = t.nextStep(ctx, 0, t.patience); err == nil {
		return end, nil
	}
	end()
	if ctx.Err() != nil {
		err = ErrInterrupted
	}
	return nil, err
}

// follow measures this shard's share of the announced levels, until the sweep ends.
func (s *sweep) follow(ctx context.Context, t *follower) error {
	s.progress.Cell = fmt.Sprintf("shard %d of %d", s.Part.Index, s.Part.Count) // until there is a level
	for {
		came := t.at.Number
		switch {
		case t.at.Sweep != s.store.header.ID:
			return errors.New("shard 0 has begun another sweep; start this shard with another --output.dir, too")
		case t.at.Kind == stepPrepare:
			if err := s.followSteps(ctx, t); err != nil {
				return err
			}
		case t.at.Kind == stepOver:
			t.tell(came, true, nil)
			return t.farewell()
		}
		if t.at.Number != came && (t.at.Kind == stepPrepare || t.at.Kind == stepOver) {
			continue // it joined during the level
		}
		s.phase(phaseShards)
		t.tell(t.at.Number, true, nil)
		next, err := t.nextStep(ctx, t.at.Number, t.patience)
		switch {
		case ctx.Err() != nil:
			return ErrInterrupted
		case err != nil:
			return err
		}
		t.at = next
	}
}

func (s *sweep) recordClock(t *follower) {
	offset, within := t.clockOffset()
	s.run.Shard.OffsetSeconds, s.run.Shard.ErrorSeconds = offset.Seconds(), within.Seconds()
}

func (t *follower) farewell() error {
	switch {
	case t.at.Why != "":
		return fmt.Errorf("shard 0: %s", t.at.Why)
	case t.missed > 0:
		return fmt.Errorf("%d levels continued without this shard; --resume measures them again", t.missed)
	}
	return nil
}

// followSteps measures this shard's share of the announced level. Afterwards t.at is a later step.
func (s *sweep) followSteps(ctx context.Context, t *follower) error {
	o := t.at.Level
	if o.Variant >= len(s.Plan.Variants) || o.Level >= len(s.Plan.Levels) {
		return fmt.Errorf("shard 0 announces level %d of variant %d, which the plan does not have", o.Level, o.Variant)
	}
	// All shards generate the same texts: from the run's mark and the characters per token of shard 0.
	s.id, s.calibration = o.Mark, calibration{o.Chars, o.Tokens}
	s.ready[o.Variant] = o.Model
	name := s.Plan.name(o.cell)
	s.progress.Number, s.progress.Total, s.progress.Cell = o.Number, o.Total, name
	s.coming, s.clock.started = []int{o.Level}, time.Now()
	if err := t.measure(ctx); err != nil {
		s.Logger.Warn("The clock of shard 0 cannot be read; the last known offset is used", "err", err)
	}
	s.recordClock(t)
	if o.WarmUp {
		return s.warmUpVariant(ctx, o.Variant)
	}
	delete(s.store.records, name) // it is measured again
	rec := &record{Cell: name}
	if err := s.measure(ctx, o.cell, fullCurve, rec); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		s.keep(rec)
		return ErrInterrupted
	case rec.Result.State == runfile.Interrupted:
		t.missed++
		t.leave(rec.Result.Why)
		s.Logger.Warn("This shard has lost its part of a level; it continues with the next one", "level", rec.Cell, "why", rec.Result.Why)
		return nil
	}
	shard := *s.run.Shard
	rec.Shard = &shard
	return s.finish(o.cell, rec)
}

// prepare does nothing: shard 0 prepares the level.
func (t *follower) prepare(context.Context, *level) error { return nil }

func (t *follower) begin(ctx context.Context, _ *level) (time.Time, *ending) {
	if end := t.advance(ctx, nil); end != nil {
		return time.Time{}, end
	}
	if t.at.Kind != stepLoad {
		return time.Time{}, movedOn("it was not ready when the level began")
	}
	t.tell(t.at.Number, false, nil)
	at, err := t.here(t.at.At)
	if err != nil {
		return at, movedOn(err.Error())
	}
	return at, nil
}

// advance reports that this shard has finished the step, and waits for the next one.
func (t *follower) advance(ctx context.Context, r *levelReport) *ending {
	t.tell(t.at.Number, true, r)
	next, err := t.nextStep(ctx, t.at.Number, silenceLimit)
	if err != nil {
		return movedOn(err.Error())
	}
	t.at = next
	return nil
}

// movedOn is the end of a level that continues, or ended, without this shard.
func movedOn(why string) *ending { return &ending{state: runfile.Interrupted, why: why} }

// look reports the counts, and returns an end if shard 0 or this shard ends the level.
func (t *follower) look(ctx context.Context, _ *level, _ time.Time, seen *levelReport) *ending {
	t.tell(t.at.Number, false, seen)
	now, err := t.currentStep()
	switch {
	case err != nil:
		return movedOn(err.Error())
	case now.Number == t.at.Number:
		return nil
	}
	if t.at = now; now.Kind != stepHalt {
		return movedOn("the other shards continued without it")
	}
	at, err := t.here(now.At)
	if err != nil {
		return movedOn(err.Error())
	}
	load.Pause(ctx, time.Until(at))
	return &ending{state: runfile.EndedEarly}
}

// rule reports the final counts, and keeps shard 0's verdict.
func (t *follower) rule(ctx context.Context, l *level, end *ending, r *runfile.Result) {
	if end.state == runfile.Interrupted {
		return
	}
	seen := l.sink.look(time.Now(), l.value)
	seen.Result = countsOnly(*r)
	for t.at.Kind == stepLoad || t.at.Kind == stepHalt {
		if e := t.advance(ctx, &seen); e != nil {
			r.State, r.Why = e.state, e.why
			return
		}
	}
	if t.at.Kind != stepRuled {
		r.State, r.Why = runfile.Interrupted, "the other shards continued without it"
		return
	}
	ruling := t.at.Ruling
	r.State, r.Why, r.Verdict, r.Lost = ruling.State, ruling.Why, ruling.Verdict, ruling.Lost
}
