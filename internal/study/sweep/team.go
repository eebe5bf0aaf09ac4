package sweep

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"synthetic/internal/study/runfile"
)

// team synchronises a level with the other shards.
type team interface {
	// prepare announces the level.
	prepare(ctx context.Context, l *level) error
	// begin waits until all shards are ready. It returns when the load begins, or why the level
	// ends before that.
	begin(ctx context.Context, l *level) (time.Time, *ending)
	// look adds the reports of the other shards to seen, and judges the measurement. It returns
	// nil to continue.
	look(ctx context.Context, l *level, now time.Time, seen *levelReport) *ending
	// rule completes the result of an ended level from this shard's measurement.
	rule(ctx context.Context, l *level, end *ending, r *runfile.Result)
}

// join returns the team for the options. In a following shard it sets the ID to the one of
// shard 0.
func (o *Options) join(ctx context.Context) (t team, leave func(), err error) {
	switch {
	case o.Lead != nil:
		return &leader{Lead: o.Lead, patience: o.Patience}, func() {}, nil
	case o.Follow != nil:
		t := &follower{Client: o.Follow, patience: o.Patience}
		leave, err = t.join(ctx)
		o.ID = t.at.Sweep
		return t, leave, err
	}
	return singleProcess{}, func() {}, nil
}

// wholeRun returns the run as one process would judge it.
func (s *sweep) wholeRun() *runfile.Run {
	run := *s.run
	run.Shard = nil
	return &run
}

// Hello returns how this process introduces itself to the other shards.
func (o *Options) Hello() Hello {
	return Hello{
		Protocol: ProtocolVersion, Index: o.Part.Index, Count: o.Part.Count,
		Plan: o.Plan.Source.SHA256, Workload: fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, o.Plan.workload()))),
		Seed: o.Plan.Seed, Mode: o.mode(), Process: newID(),
	}
}

type singleProcess struct{}

func (singleProcess) prepare(context.Context, *level) error { return nil }

func (singleProcess) begin(context.Context, *level) (time.Time, *ending) { return time.Now(), nil }

func (singleProcess) look(_ context.Context, l *level, now time.Time, seen *levelReport) *ending {
	return l.watcher.check(now, *seen)
}

func (singleProcess) rule(_ context.Context, l *level, end *ending, r *runfile.Result) {
	if end.judgeable() && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.Conclude(l.watcher.run, *r)
	}
}

// judgeable reports whether the whole level must be judged at this end.
func (e *ending) judgeable() bool { return e.verdict == nil && e.state == runfile.Complete }
