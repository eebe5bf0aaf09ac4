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
	// maxSilence is how long a loop may give no sign of life before it is taken
	// for stuck.
	maxSilence = 10 * time.Second
	// sinkPatience is how long a call of the sink, which must not block, may
	// take before the job is taken for stuck.
	sinkPatience = 5 * time.Second
)

// LastBeat returns the last sign of life of a job, or the zero time if the job
// is not wanted. A job whose sink or turn is stuck gives none. It allocates
// nothing: each scrape asks for every job.
func (s *Scheduler) LastBeat(job probe.Key) time.Time {
	if r := (*s.wanted.Load())[job]; r != nil {
		return r.watch.lastBeat()
	}
	return time.Time{}
}

// Healthy returns nil if Run runs and every wanted job gives signs of life,
// and otherwise an error that names each job that is stuck, and in what. It
// takes no lock that a stuck job could hold.
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
	if what := r.watch.overdue(now); what != "" {
		return fmt.Errorf("workload %q on target %q is stuck: still waiting for %s", r.key.Workload, r.key.Target, what)
	}
	if silence := now.Sub(r.watch.lastBeat()); silence > maxSilence {
		return fmt.Errorf("workload %q on target %q is stuck: no sign of life for %s", r.key.Workload, r.key.Target, silence.Round(time.Second))
	}
	return nil
}

// watch keeps the last sign of life of a job, and what its goroutines are
// waiting for, until when that is plausible.
type watch struct {
	mu     sync.Mutex
	beaten time.Time
	open   map[*expectation]bool
}

type expectation struct {
	what  string
	until time.Time
}

// beat gives a sign of life, unless something of the job is stuck.
func (w *watch) beat() {
	now := time.Now()
	if w.overdue(now) != "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beaten = now
}

func (w *watch) lastBeat() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.beaten
}

// expect notes that something should happen in time; settle, that it did.
func (w *watch) expect(what string, within time.Duration) (settle func()) {
	e := &expectation{what, time.Now().Add(within)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[e] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, e)
	}
}

// overdue returns what should have happened longest ago and did not, or "".
func (w *watch) overdue(now time.Time) (what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := range w.open {
		if e.until.Before(now) {
			now, what = e.until, e.what
		}
	}
	return what
}
