package load

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
)

const (
	// maxSilence is how old the last heartbeat of a job may be before the job counts as stuck.
	maxSilence = 10 * time.Second
	// sinkTimeout is how long a call of the sink may take before the job counts as stuck. A
	// sink must not block.
	sinkTimeout = 5 * time.Second
)

// LastBeat returns the last heartbeat of a job, or the zero time for an unknown job. A job has
// no heartbeats while its sink or a turn is stuck. LastBeat does not allocate, because each
// scrape calls it for every job.
func (s *Scheduler) LastBeat(job probe.Key) time.Time {
	if r := (*s.wanted.Load())[job]; r != nil {
		return r.watchdog.lastBeat()
	}
	return time.Time{}
}

// Healthy returns nil if the scheduler runs and no job is stuck. Otherwise the error names each
// stuck job and the event that it waits for. Healthy takes no lock that a stuck job could hold.
func (s *Scheduler) Healthy() error {
	switch s.phase.Load() {
	case idle:
		return errors.New("the scheduler is not running yet")
	case stopping:
		return errors.New("the scheduler is shutting down")
	}
	var errs []error
	now, jobs := time.Now(), *s.wanted.Load()
	for _, key := range slices.SortedFunc(maps.Keys(jobs), probe.Key.Compare) {
		errs = append(errs, jobs[key].healthy(now))
	}
	return errors.Join(errs...)
}

func (r *runner) healthy(now time.Time) error {
	if event := r.watchdog.overdue(now); event != "" {
		return fmt.Errorf("workload %q on target %q is stuck: still waiting for %s", r.key.Workload, r.key.Target, event)
	}
	if silence := now.Sub(r.watchdog.lastBeat()); silence > maxSilence {
		return fmt.Errorf("workload %q on target %q is stuck: no heartbeat for %s",
			r.key.Workload, r.key.Target, silence.Round(time.Second))
	}
	return nil
}

// watchdog keeps the last heartbeat of a job and the deadlines of the events that it expects.
type watchdog struct {
	mu        sync.Mutex
	last      time.Time
	deadlines map[*deadline]bool
}

type deadline struct {
	event string
	at    time.Time
}

// beat records a heartbeat, unless a deadline has passed.
func (w *watchdog) beat() {
	now := time.Now()
	if w.overdue(now) != "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = now
}

func (w *watchdog) lastBeat() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// expectWithin sets a deadline. The caller calls settle when the event has happened.
func (w *watchdog) expectWithin(event string, within time.Duration) (settle func()) {
	d := &deadline{event, time.Now().Add(within)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadlines[d] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.deadlines, d)
	}
}

// overdue returns the event of the earliest missed deadline, or "".
func (w *watchdog) overdue(now time.Time) (event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for d := range w.deadlines {
		if d.at.Before(now) {
			now, event = d.at, d.event
		}
	}
	return event
}
