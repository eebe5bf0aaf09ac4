package load

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Apply makes the given jobs the wanted ones. A job that is already running
// and unchanged (and its file of conversations, too) keeps running, with its
// conversations. A changed job's former self starts nothing more and finishes
// its turns in flight beside the new one; a removed job does the same and is
// reported to OnRemoved when it is over. If a job cannot be made, the error
// says which and why, and nothing changes. The jobs must not be modified
// afterwards.
//
// accepted, unless nil, is called once the jobs can no longer be refused and
// before any new one starts: whoever counts their starts gets to know them in
// time. It must not call the Scheduler.
func (s *Scheduler) Apply(jobs []probe.Job, accepted func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase.Load() == stopping {
		return errors.New("the scheduler is shutting down and takes no jobs")
	}
	old := *s.wanted.Load()
	next, err := s.prepare(jobs)
	if err != nil {
		beside(next, old, func(r *runner) { r.prober.Close() })
		return err
	}
	beside(old, next, func(r *runner) {
		s.retire(r)
		if s.phase.Load() == idle && next[r.key] == nil && s.opts.OnRemoved != nil {
			s.opts.OnRemoved(r.key) // it was never started, so that it is over
		}
	})
	if accepted != nil {
		accepted()
	}
	s.wanted.Store(&next)
	if s.phase.Load() == running {
		beside(next, old, s.start)
	}
	return nil
}

// beside calls do for the runners that are not in others, too.
func beside(runners, others map[probe.Key]*runner, do func(*runner)) {
	for k, r := range runners {
		if others[k] != r {
			do(r)
		}
	}
}

// prepare finds the runners to keep and makes those that are missing, started
// by nobody yet.
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
			r, err := s.make(j)
			if err != nil {
				errs = append(errs, fmt.Errorf("preparing workload %q for target %q: %w", k.Workload, k.Target, err))
				continue
			}
			next[k] = r
		}
	}
	return next, errors.Join(errs...)
}

func (s *Scheduler) make(j probe.Job) (*runner, error) {
	hash := workload.Hash(s.opts.Replica, j.Target.Name, j.Workload.Name)
	salt := hash
	if j.Workload.Starters <= 0 {
		// Openings are to be unique, also against those of this process's
		// predecessor, which had the same seed and perhaps the same name.
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
	return newRunner(s, j, s.made, hash, source, prober), nil
}

// retire lets a runner go. The caller holds mu.
func (s *Scheduler) retire(r *runner) {
	r.halt()
	if s.phase.Load() == idle {
		r.prober.Close()
		return
	}
	s.draining[r.key]++
}

func (s *Scheduler) over(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := (*s.wanted.Load())[r.key]
	if now == r {
		return // the process stops: its series stay for the last scrape
	}
	if s.draining[r.key]--; s.draining[r.key] > 0 {
		return
	}
	delete(s.draining, r.key)
	if now == nil && s.opts.OnRemoved != nil {
		// Under mu, so that the job cannot come back while its series go.
		s.opts.OnRemoved(r.key)
	}
}
