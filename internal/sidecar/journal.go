package sidecar

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// journalInterval is the minimum time between two lines of one kind about a job.
const journalInterval = time.Minute

// journal is a sink that logs when a job begins to fail and when it recovers, and its bursts.
type journal struct {
	logger *slog.Logger
	// canPage names the pages that a job can have while its latencies are learned; "" afterwards.
	canPage func(probe.Key) string

	mu   sync.Mutex
	jobs map[probe.Key]*journalEntry
}

// journalEntry records when the journal last logged an outcome of a job and a fault of the prober, and whether that
// outcome was a failure.
type journalEntry struct {
	failing            bool
	outcomeAt, faultAt time.Time
	// burstAt is when a burst began, zero without one; turns and failed are those that ended in it.
	burstAt       time.Time
	turns, failed int
}

func newJournal(logger *slog.Logger, canPage func(probe.Key) string) *journal {
	return &journal{logger: logger, canPage: canPage, jobs: map[probe.Key]*journalEntry{}}
}

// entry returns the entry of a job. It needs the lock.
func (j *journal) entry(job probe.Key) *journalEntry {
	e := j.jobs[job]
	if e == nil {
		e = &journalEntry{}
		j.jobs[job] = e
	}
	return e
}

// Observe implements fleet.Sink.
func (j *journal) Observe(e probe.Event) {
	switch e := e.(type) {
	case probe.FieldsLearned:
		j.logger.Info("The target refuses fields of requests: the prober leaves them out", "target", e.Target, "workload", e.Workload, "fields", e.Fields)
	case probe.Result:
		j.ended(e)
	case probe.Paced:
		j.paced(e)
	}
}

// paced logs the begin and the end of a burst. The first rate of a job is neither.
func (j *journal) paced(p probe.Paced) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, logger := j.entry(p.Key()), j.logger.With("target", p.Target, "workload", p.Workload)
	switch {
	case p.Why != "":
		e.burstAt, e.turns, e.failed = time.Now(), 0, 0
		logger.Info("A burst began: the prober starts more conversations to make sure of a fault", "reason", p.Why, "rate", p.Rate)
	case !e.burstAt.IsZero():
		logger.Info("The burst ended", "lasted", time.Since(e.burstAt).Round(time.Second), "turns", e.turns, "failed", e.failed, "rate", p.Rate)
		e.burstAt = time.Time{}
	}
}

// ended logs a turn whose outcome differs from the last logged one. The first turn does.
func (j *journal) ended(r probe.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, failed := j.entry(r.Key()), r.Outcome.Failed()
	if e.turns++; failed {
		e.failed++
	}
	switch {
	case r.Outcome.OwnFault():
		if isDue(&e.faultAt, r.End) {
			j.logger.Warn("A turn failed because of the prober itself", "target", r.Target, "workload", r.Workload, "outcome", r.Outcome, "err", r.Err)
		}
	case r.Outcome.Own(), !e.outcomeAt.IsZero() && e.failing == failed, !isDue(&e.outcomeAt, r.End):
	case failed:
		e.failing = true
		j.logger.Warn("Turns fail", "target", r.Target, "workload", r.Workload, "trace", r.TraceID, "outcome", r.Outcome, "err", r.Err)
	default:
		e.failing = false
		logger := j.logger
		if text := j.canPage(r.Key()); text != "" {
			logger = logger.With("learning", text)
		}
		logger.Info("Turns succeed", "target", r.Target, "workload", r.Workload, "trace", r.TraceID, "ttft", r.TTFT.V)
	}
}

// isDue reports whether journalInterval has passed since *last, and then sets *last to now.
func isDue(last *time.Time, now time.Time) bool {
	if !last.IsZero() && now.Sub(*last) < journalInterval {
		return false
	}
	*last = now
	return true
}

// Add implements fleet.Sink. It does nothing: the first turn creates the entry.
func (j *journal) Add(fleet.Job) {}

// Remove implements fleet.Sink.
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
