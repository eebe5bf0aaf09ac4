package sweep

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"synthetic/internal/study/runfile"
)

// team is how a level keeps in step with the shards that carry it together.
type team interface {
	// prepare tells which level comes.
	prepare(ctx context.Context, l *level) error
	// begin waits until all are ready, and says when the load begins, or why the
	// level ends before that.
	begin(ctx context.Context, l *level) (time.Time, *ending)
	// look judges what was seen of a measurement under way, and adds to it what the
	// others saw; nil goes on.
	look(ctx context.Context, l *level, now time.Time, seen *Report) *ending
	// rule completes the result of a level that ended, once it has what this shard
	// measured.
	rule(ctx context.Context, l *level, end *ending, r *runfile.Result)
}

// join makes the team that the options say. A shard that follows has the ID of the
// whole sweep from then on.
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

// whole is the run as if one process had carried it: by which what all did is judged.
func (s *sweep) wholeRun() *runfile.Run {
	run := *s.run
	run.Shard = nil
	return &run
}

// Hello is what shards of a sweep tell each other of it.
func (o *Options) Hello() Hello {
	return Hello{
		Protocol: ProtocolVersion, Index: o.Part.Index, Count: o.Part.Count,
		Plan: o.Plan.Source.SHA256, Workload: fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, o.Plan.workload()))),
		Seed: o.Plan.Seed, Mode: o.mode(), Process: newID(),
	}
}

// alone is a sweep in one process.
type singleProcess struct{}

func (singleProcess) prepare(context.Context, *level) error { return nil }

func (singleProcess) begin(context.Context, *level) (time.Time, *ending) { return time.Now(), nil }

func (singleProcess) look(_ context.Context, l *level, now time.Time, seen *Report) *ending {
	return l.watcher.check(now, *seen)
}

func (singleProcess) rule(_ context.Context, l *level, end *ending, r *runfile.Result) {
	if end.judgeable() && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.Conclude(l.watcher.run, *r)
	}
}

// judgeable reports an end at which the whole level is to be judged.
func (e *ending) judgeable() bool { return e.verdict == nil && e.state == runfile.Complete }
