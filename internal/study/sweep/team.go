package sweep

import (
	"context"
	"time"

	"synthetic/internal/study/runfile"
)

// team synchronises a level with other processes. The methods are called in this order.
type team interface {
	// prepare announces the level.
	prepare(ctx context.Context, l *level) error
	// begin waits until all processes are ready. It returns when the load begins, or why the level
	// ends before that.
	begin(ctx context.Context, l *level) (time.Time, *ending)
	// look adds the reports of the workers to seen, and judges the measurement. It returns nil to
	// continue.
	look(ctx context.Context, l *level, now time.Time, seen *levelReport) *ending
	// conclude completes the result of an ended level from this process's measurement.
	conclude(ctx context.Context, l *level, end *ending, r *runfile.Result)
	// collect completes the turn log of an ended level.
	collect(path string, r *runfile.Result) error
}

type singleProcess struct{}

func (singleProcess) prepare(context.Context, *level) error { return nil }

func (singleProcess) begin(context.Context, *level) (time.Time, *ending) { return time.Now(), nil }

func (singleProcess) look(_ context.Context, l *level, now time.Time, seen *levelReport) *ending {
	return l.watcher.check(now, *seen)
}

func (singleProcess) conclude(_ context.Context, l *level, end *ending, r *runfile.Result) {
	if end.judgeable() && len(l.plan.SLOs) > 0 {
		r.Verdict = l.watcher.Conclude(l.watcher.run, *r)
	}
}

func (singleProcess) collect(string, *runfile.Result) error { return nil }

// judgeable reports whether the whole level must be judged at this end.
func (e *ending) judgeable() bool { return e.verdict == nil && e.state == runfile.Complete }
