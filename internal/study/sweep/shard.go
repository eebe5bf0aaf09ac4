package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/probe/workload"
)

// lateSlot is how late a shard may be for a slot. A later one leaves the level out.
const lateSlot = time.Second

// slot returns the length of a slot, in which all shards measure one level.
func slotOf(p fleet.Plan) time.Duration {
	return p.WarmUp.Length() + p.Measure.Duration() + drainOf(p) + p.Pause
}

// checkShard returns why the plan cannot be measured in slots of known length.
func (o Options) checkShard() error {
	p, n := o.Plan, o.Shard.Count
	switch {
	case n == 0:
		return nil
	case o.FindCapacity:
		return errors.New("--find-capacity decides what to measure next, so it runs in one process: leave --shard out")
	case p.Measure.Conversations > 0 || p.WarmUp.Conversations > 0:
		return errors.New("--shard needs levels of a known length: write measure.snapshot and warm_up.duration in place of conversations")
	case p.Cache.Policy == fleet.Prime:
		return errors.New("--shard needs levels of a known length: cache.policy cannot be prime")
	case slices.ContainsFunc(p.Variants, func(v fleet.Variant) bool { return len(v.Switch) > 0 }):
		return errors.New("--shard cannot wait for a switch: sweep each variant by itself, and compare the merged runs")
	case !p.OpenLoop && p.Levels[0] < float64(n):
		return fmt.Errorf("concurrency %g is less than one conversation for each of %d shards: use fewer shards, or higher levels", p.Levels[0], n)
	case p.MaxConcurrency > 0 && p.MaxConcurrency < n:
		return fmt.Errorf("max_concurrency %d is less than one conversation for each of %d shards: use fewer shards, or raise it", p.MaxConcurrency, n)
	case !o.Resume && o.StartAt.Add(time.Duration(len(Cells(p)))*slotOf(p)).Before(time.Now()):
		return fmt.Errorf("--start-at=%s: the last slot is over; name one time in the near future for all shards", o.StartAt.Format(time.RFC3339))
	}
	return nil
}

// sharedID is equal for all shards of a sweep, so that their marks against caches are.
func (o Options) sharedID() string {
	if o.Shard.Count == 0 {
		return newID()
	}
	return fmt.Sprintf("%08x", uint32(workload.Hash(o.Plan.Source.SHA256, o.StartAt.UTC().String())))
}

// awaitSlot waits for the slot of the current cell, and reports whether this process is in time.
func (s *sweep) awaitSlot(ctx context.Context) bool {
	s.slotBegin = s.StartAt.Add(time.Duration(s.progress.Number-1) * slotOf(s.Plan))
	if late := time.Since(s.slotBegin); late > lateSlot {
		s.Logger.Warn("The slot of this level has begun without this shard, which leaves the level out", "level", s.progress.Cell, "late", late.Round(time.Second))
		return false
	}
	s.phase(phaseSlot)
	load.Pause(ctx, time.Until(s.slotBegin))
	return true
}

// slots measures the grid in slots, after it has made every variant ready.
func (s *sweep) slots(ctx context.Context) error {
	for i, v := range s.Plan.Variants {
		s.progress.Cell = v.Name
		if err := s.prepare(ctx, cell{Variant: i}); ctx.Err() != nil {
			return ErrInterrupted
		} else if err != nil {
			return fmt.Errorf("before the slots of %s: %w", v.Name, err)
		}
	}
	if err := s.grid(ctx); err != nil || len(s.run.Results) > 0 {
		return err
	}
	return errors.New("every slot had begun before this shard was ready: choose a later --start-at for all shards")
}

// owns reports whether conversation n of a level, counted from 0, belongs to this process. A random part of a
// Poisson process is one, too; every third start would be far more even.
func (l *level) owns(n uint64) bool {
	shard, mark := l.sweep.Shard, n
	if shard.Count == 0 {
		return true
	}
	if l.plan.OpenLoop {
		mark = workload.Hash("shard", strconv.FormatUint(l.seed, 16), strconv.FormatUint(n, 10))
	}
	return mark%uint64(shard.Count) == uint64(shard.Index)
}

// next returns the next conversation of this process.
func (l *level) next() workload.Conversation {
	for ; !l.owns(l.taken); l.taken++ {
		l.conversations.source.Skip()
	}
	l.taken++
	return l.conversations.source.Next()
}
