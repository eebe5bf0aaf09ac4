package sidecar

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// journalEvery is the minimum time between two lines about one job.
const journalEvery = time.Minute

// journal is a sink that logs when a job begins to fail and when it recovers, at most one line
// a minute for each job.
type journal struct {
	logger *slog.Logger

	mu   sync.Mutex
	jobs map[probe.Key]*entry
}

// entry holds what the journal last logged about a job.
type entry struct {
	failing bool
	// said is the time of the last line about the target, own that of the last line about a
	// fault of the prober; zero before the first.
	said, own time.Time
	// compared is the time of the last line about an answer that streaming changed.
	compared time.Time
}

func newJournal(logger *slog.Logger) *journal {
	return &journal{logger: logger, jobs: map[probe.Key]*entry{}}
}

// Observe logs a turn whose outcome differs from the last logged one.
func (j *journal) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.LimitLearned:
		j.logger.Info("The target refuses max_tokens: it is sent max_completion_tokens from now on", "target", e.Target, "workload", e.Workload)
	case probe.Comparison:
		j.compare(e)
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

// compare logs an answer that streaming changed, at most once a minute for a job.
func (j *journal) compare(c probe.Comparison) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entry(c.Key())
	if now := time.Now(); c.Verdict == probe.Different && now.Sub(e.compared) >= journalEvery {
		e.compared = now
		j.logger.Warn("A streamed answer is another than the same one whole", "target", c.Target, "workload", c.Workload, "trace", c.TraceID, "differs", c.Text)
	}
}

// ownIsNews reports whether a fault of the prober is worth a line: one a minute for each job,
// so that one job's fault does not hide another's.
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

// entry returns the entry of a job and creates it if needed. The caller holds mu.
func (j *journal) entry(job probe.Key) *entry {
	e := j.jobs[job]
	if e == nil {
		e = &entry{}
		j.jobs[job] = e
	}
	return e
}

// changed reports whether the turn is worth a line. The first turn is.
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

// Add implements sink.Sink. It does nothing: the first turn creates the entry.
func (j *journal) Add(sink.Job) {}

// Remove implements sink.Sink.
func (j *journal) Remove(job probe.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.jobs, job)
}

// Quiet returns a logger that drops records below warning level.
func Quiet(l *slog.Logger) *slog.Logger {
	return slog.New(warnings{l.Handler()})
}

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
