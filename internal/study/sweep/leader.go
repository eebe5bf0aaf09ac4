package sweep

import (
	"context"
	"fmt"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

const (
	// headStart is the time between the announcement of a load's start or end and the event:
	// several signs of life.
	headStart = time.Second
	haltAhead = 2 * time.Second
	// keeping bounds how long other shards save a level. farewell bounds how long shard 0 waits
	// for them at the end of the sweep.
	keeping, farewell = time.Minute, 5 * time.Second
)

// leader is shard 0. It decides for all by the sum of their counts.
type leader struct {
	*Lead
	patience  time.Duration
	announced time.Time // when the level was announced
	// levels counts the levels that lost a shard; whole holds the counts of all shards in the
	// last level.
	levels int
	whole  runfile.Result
}

func (t *leader) prepare(ctx context.Context, l *level) error {
	l.sweep.phase(phaseShards)
	switch err := t.gather(ctx, t.patience); {
	case ctx.Err() != nil:
		return ErrInterrupted
	case err != nil:
		return err
	}
	t.announced = time.Now()
	t.announce(step{Kind: stepPrepare, Level: l.named})
	return nil
}

// begin waits for the other shards as long as its own preparation took, plus the time of a
// turn. A shard that is not ready then is lost, as the first look reports.
func (t *leader) begin(ctx context.Context, l *level) (time.Time, *ending) {
	t.await(ctx, time.Since(t.announced)+l.plan.drain())
	at := time.Now().Add(headStart)
	t.announce(step{Kind: stepLoad, At: at})
	return at, nil
}

func (t *leader) look(ctx context.Context, l *level, now time.Time, seen *levelReport) *ending {
	for i, r := range t.reports() {
		addReport(seen, i, r)
	}
	end := l.watcher.check(now, *seen)
	if lost := t.lost(); lost != nil {
		end = endEarly(l.watcher.Unproven(l.watcher.TurnsOf(seen.Result)), "lost: %s", runfile.LostShards(lost))
	}
	if end != nil {
		at := now.Add(haltAhead)
		t.announce(step{Kind: stepHalt, At: at})
		load.Pause(ctx, time.Until(at))
	}
	return end
}

func (t *leader) rule(ctx context.Context, l *level, end *ending, r *runfile.Result) {
	if end.state == runfile.Interrupted {
		return // as the other shards will be told
	}
	limit := l.plan.drain()
	if l.plan.Measure.Conversations > 0 { // such levels end with their conversations
		limit += time.Since(t.announced)
	}
	t.await(ctx, limit)
	seen := levelReport{Result: countsOnly(*r)}
	for i, report := range t.reports() {
		addReport(&seen, i, report)
	}
	if r.Lost = t.lost(); r.Lost != nil {
		t.levels++
		r.Verdict = l.watcher.Unproven(l.watcher.TurnsOf(seen.Result))
	} else if end.judgeable() && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.Conclude(l.watcher.run, seen.Result)
	}
	t.whole = seen.Result
	t.announce(step{Kind: stepRuled, Ruling: ruling{State: r.State, Why: r.Why, Verdict: r.Verdict, Lost: r.Lost}})
	t.await(ctx, keeping)
	if lost := t.lost(); r.Lost == nil && lost != nil && ctx.Err() == nil { // before it saved its share
		t.levels++
		r.Lost, r.Verdict = lost, l.watcher.Unproven(l.watcher.TurnsOf(seen.Result))
	}
}

// finish tells the other shards how the sweep ended, and returns that error. A sweep that lost a
// shard is incomplete.
func (t *leader) finish(ctx context.Context, err error) error {
	if err == nil && t.levels > 0 {
		err = fmt.Errorf("%d of the levels lost a shard and were not reached; --resume measures them again", t.levels)
	}
	why := ""
	if err != nil {
		why = err.Error()
	}
	t.announce(step{Kind: stepOver, Why: why})
	t.await(context.WithoutCancel(ctx), farewell)
	return err
}
