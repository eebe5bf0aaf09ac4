package sidecar

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// journalEvery is how often, at most, the journal has a line for one job.
const journalEvery = time.Minute

// journal is a sink that logs when a job begins to fail and when it is well
// again: the first place an operator looks at. A job that goes back and forth
// has a line a minute at most.
type journal struct {
	logger *slog.Logger

	mu   sync.Mutex
	jobs map[probe.Key]*entry
}

// entry is what the journal last said of a job.
type entry struct {
	failing bool
	// said is when it last spoke of the target, own of the prober's own faults; zero
	// before the first time.
	said, own time.Time
}

func newJournal(logger *slog.Logger) *journal {
	return &journal{logger: logger, jobs: map[probe.Key]*entry{}}
}

// Observe logs a turn that ends differently from what was said last.
func (j *journal) Observe(e probe.Event) {
	if l, ok := e.(probe.LimitLearned); ok {
		j.logger.Info("The target refuses max_tokens: it is sent max_completion_tokens from now on", "target", l.Target, "workload", l.Workload)
	}
	r, ended := e.(probe.Result)
	if ended && r.Outcome.OwnFault() && j.ownIsNews(r) {
		j.logger.Warn("The prober itself is at fault: turns say nothing of their targets", "target", r.Target, "workload", r.Workload, "outcome", r.Outcome, "err", r.Err)
	}
	if !ended || r.Outcome.Own() || !j.changed(r) {
		return
	}
	at := []any{"target", r.Target, "workload", r.Workload, "trace", r.TraceID}
	if r.Outcome.Failed() {
		j.logger.Warn("Turns fail", append(at, "outcome", r.Outcome, "err", r.Err)...)
		return
	}
	j.logger.Info("Turns succeed", append(at, "ttft", r.TTFT.V)...)
}

// ownIsNews reports whether an own fault is worth a line: one a minute for a job,
// so that what one lacks does not hide what another does.
func (j *journal) ownIsNews(r probe.Result) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entry(r.Key())
	if !e.own.IsZero() && r.End.Sub(e.own) < journalEvery {
		return false
	}
	e.own = r.End
	return true
}

// entry returns that of a job, a new one at first. The caller holds mu.
func (j *journal) entry(job probe.Key) *entry {
	e := j.jobs[job]
	if e == nil {
		e = &entry{}
		j.jobs[job] = e
	}
	return e
}

// changed reports whether the turn is worth a line; the first is.
func (j *journal) changed(r probe.Result) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entry(r.Key())
	if !e.said.IsZero() && (e.failing == r.Outcome.Failed() || r.End.Sub(e.said) < journalEvery) {
		return false
	}
	e.failing, e.said = r.Outcome.Failed(), r.End
	return true
}

// Add implements sink.Sink: a job is known by its first turn.
func (j *journal) Add(sink.Job) {}

// Remove drops a job that is no more.
func (j *journal) Remove(job probe.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.jobs, job)
}

// Quiet drops what is below a warning.
func Quiet(l *slog.Logger) *slog.Logger {
	return slog.New(warnings{l.Handler()})
}

// warnings is a handler of nothing less.
type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

func (h warnings) WithGroup(name string) slog.Handler {
	return warnings{h.Handler.WithGroup(name)}
}
