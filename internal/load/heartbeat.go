package load

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/probe"
)

const (
	// beatEvery is how often a loop gives a sign of life, also an idle one.
	beatEvery = time.Second
	// maxSilence is how long a loop may give none before it is taken for stuck.
	maxSilence = 10 * time.Second
	// sinkPatience is how long a call of the sink, which must not block, may
	// take before the job is taken for stuck.
	sinkPatience = 5 * time.Second
)

// LastBeat returns the last sign of life of a job, or the zero time if the job
// is not wanted. A job whose sink or turn is stuck gives none. It allocates
// nothing: each scrape asks for every job.
func (s *Scheduler) LastBeat(job probe.Key) time.Time {
	live := *s.live.Load()
	i, found := slices.BinarySearchFunc(live, job, func(r *runner, k probe.Key) int { return r.key.Compare(k) })
	if !found {
		return time.Time{}
	}
	return *live[i].beaten.Load()
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
	now := time.Now()
	for _, r := range *s.live.Load() {
		if err := r.healthy(now); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// healthy returns what the runner is stuck in.
func (r *runner) healthy(now time.Time) error {
	if what := r.watch.overdue(now); what != "" {
		return fmt.Errorf("workload %q on target %q is stuck: still waiting for %s", r.key.Workload, r.key.Target, what)
	}
	if silence := now.Sub(*r.beaten.Load()); silence > maxSilence {
		return fmt.Errorf("workload %q on target %q is stuck: no sign of life for %s", r.key.Workload, r.key.Target, silence.Round(time.Second))
	}
	return nil
}

// beat gives a sign of life, unless something of the job is stuck.
func (r *runner) beat() {
	now := time.Now()
	if r.watch.overdue(now) == "" {
		r.beaten.Store(&now)
	}
}

// report hands an event to the sink and notices if that takes too long.
func (r *runner) report(what string, e probe.Event) {
	id := r.watch.expect("the sink to take "+what, time.Now().Add(sinkPatience))
	defer r.watch.settle(id)
	r.sink.Observe(e)
}

// waitUntil waits for a time, beating, and reports whether the runner may
// still start something.
func (r *runner) waitUntil(due time.Time) bool {
	for {
		r.beat()
		left := time.Until(due)
		if left <= 0 {
			return r.soft.Err() == nil
		}
		if !r.pause(min(left, beatEvery)) {
			return false
		}
	}
}

// await waits for a channel to close, beating, and reports whether the runner
// may still start something. A nil channel waits for the end of the runner.
func (r *runner) await(done <-chan struct{}) bool {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		r.beat()
		select {
		case <-done:
			return r.soft.Err() == nil
		case <-r.soft.Done():
			return false
		case <-tick.C:
		}
	}
}
