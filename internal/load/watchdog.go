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

// maxSilence is how old the last heartbeat of a job may be before the job counts as stuck.
const maxSilence = 10 * time.Second

// LastBeat returns the last heartbeat of a job, or the zero time for an unknown job. LastBeat does not allocate,
// because each scrape calls it for every job.
func (s *Scheduler) LastBeat(job probe.Key) time.Time {
	if r := (*s.wanted.Load())[job]; r != nil {
		return r.heart.lastBeat()
	}
	return time.Time{}
}

// Healthy returns nil if the scheduler runs and no job is stuck. Otherwise the error names each
// stuck job. Healthy takes no lock that a stuck job could hold.
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
	if silence := now.Sub(r.heart.lastBeat()); silence > maxSilence {
		return fmt.Errorf("workload %q on target %q is stuck: no heartbeat for %s",
			r.key.Workload, r.key.Target, silence.Round(time.Second))
	}
	return nil
}

// heart keeps the last heartbeat of a job.
type heart struct {
	mu   sync.Mutex
	last time.Time
}

func (h *heart) beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = time.Now()
}

func (h *heart) lastBeat() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}
