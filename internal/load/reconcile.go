package load

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Apply replaces the set of jobs. A running job that is unchanged, and whose trace
// is unchanged, keeps running. The runner of a changed or removed job starts nothing more and
// finishes its turns in flight, beside the new runner if there is one. OnRemoved is called once
// a removed job has finished. If a job is invalid, Apply returns an error and changes nothing.
// The caller must not modify jobs afterwards.
//
// Apply calls accepted, if set, once the jobs are known to be valid and before any new one
// starts, so that metrics exist before the first event. accepted must not call the Scheduler.
func (s *Scheduler) Apply(jobs []probe.Job, accepted func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase.Load() == stopping {
		return errors.New("the scheduler is shutting down and accepts no jobs")
	}
	current := *s.wanted.Load()
	wanted, err := s.prepare(jobs)
	if err != nil {
		forEachNotIn(wanted, current, func(r *runner) { r.prober.Close() })
		return err
	}
	forEachNotIn(current, wanted, func(r *runner) {
		s.retire(r)
		if s.phase.Load() == idle && wanted[r.key] == nil && s.opts.OnRemoved != nil {
			s.opts.OnRemoved(r.key) // it never ran, so nothing is left to finish
		}
	})
	if accepted != nil {
		accepted()
	}
	s.wanted.Store(&wanted)
	if s.phase.Load() == running {
		forEachNotIn(wanted, current, s.start)
	}
	return nil
}

// forEachNotIn calls do for each runner that is not in others.
func forEachNotIn(runners, others map[probe.Key]*runner, do func(*runner)) {
	for k, r := range runners {
		if others[k] != r {
			do(r)
		}
	}
}

// prepare returns the runners of jobs. It keeps those that are unchanged and creates the others
// without starting them.
func (s *Scheduler) prepare(jobs []probe.Job) (map[probe.Key]*runner, error) {
	next := make(map[probe.Key]*runner, len(jobs))
	var errs []error
	for _, j := range jobs {
		k := j.Key()
		switch old := (*s.wanted.Load())[k]; {
		case next[k] != nil:
			errs = append(errs, fmt.Errorf("two jobs send workload %q to target %q; merge them into one", k.Workload, k.Target))
		case old != nil && reflect.DeepEqual(old.job, j) && !old.source.Stale():
			next[k] = old
		default:
			r, err := s.prepareRunner(j)
			if err != nil {
				errs = append(errs, fmt.Errorf("preparing workload %q for target %q: %w", k.Workload, k.Target, err))
				continue
			}
			next[k] = r
		}
	}
	return next, errors.Join(errs...)
}

func (s *Scheduler) prepareRunner(j probe.Job) (*runner, error) {
	hash := workload.Hash(s.opts.Replica, j.Target.Name, j.Workload.Name)
	salt := hash
	if j.Workload.Starters <= 0 {
		// Unique openings must also differ from those of the previous process, which had the
		// same seed and perhaps the same name.
		salt ^= workload.Hash(time.Now().String())
	}
	source, err := workload.NewSource(j.Workload, salt)
	if err != nil {
		return nil, err
	}
	prober, err := s.opts.NewProber(j)
	if err != nil {
		return nil, err
	}
	s.made++
	return newRunner(s, j, hash, source, prober), nil
}

// retire stops a runner. The caller holds mu.
func (s *Scheduler) retire(r *runner) {
	r.stopStarts()
	if s.phase.Load() == idle {
		r.prober.Close()
		return
	}
	s.draining[r.key]++
}

func (s *Scheduler) finished(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := (*s.wanted.Load())[r.key]
	if current == r {
		return // the process stops; keep the series for the last scrape
	}
	if s.draining[r.key]--; s.draining[r.key] > 0 {
		return
	}
	delete(s.draining, r.key)
	if current == nil && s.opts.OnRemoved != nil {
		// The lock prevents Apply from adding the job again meanwhile.
		s.opts.OnRemoved(r.key)
	}
}
