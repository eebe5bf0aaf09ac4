package cluster

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// FaultKind says what a Fault does.
type FaultKind string

const (
	// SlowPrefill and SlowDecode multiply what steps take by Factor.
	SlowPrefill FaultKind = "slow_prefill"
	SlowDecode  FaultKind = "slow_decode"
	// SlowNetwork multiplies the frontend's delays.
	SlowNetwork FaultKind = "slow_network"
	// Acceptance multiplies the acceptance of drafts: less than 1 collapses it.
	Acceptance FaultKind = "acceptance"
	// Hang lets workers begin no step: they take requests and stay silent.
	Hang FaultKind = "hang"
	// WorkerLoss ends workers with all they hold. They come back empty.
	WorkerLoss FaultKind = "worker_loss"
	// ColdCache empties prefix caches, once.
	ColdCache FaultKind = "cold_cache"
)

// factors are the kinds that have one.
var factors = []FaultKind{SlowPrefill, SlowDecode, SlowNetwork, Acceptance}

// Fault is something that goes wrong for a while. Faults of a kind that
// overlap multiply their factors.
type Fault struct {
	Kind FaultKind
	// At is when it begins, For how long it lasts; 0 is forever.
	At, For time.Duration
	// Workers are the numbers of those affected; none means all.
	Workers []int
	Factor  float64
}

func (f Fault) validate(workers int) error {
	errs := []error{atLeast("at", f.At, 0), atLeast("for", f.For, 0)}
	switch f.Kind {
	case Hang, WorkerLoss, ColdCache:
	default:
		if !slices.Contains(factors, f.Kind) {
			errs = append(errs, fmt.Errorf("kind %q is unknown", f.Kind))
		} else if !(f.Factor >= 0 && f.Factor < 1e6) {
			errs = append(errs, fmt.Errorf("factor is %v: give a number from 0 to 1e6", f.Factor))
		}
	}
	for _, w := range f.Workers {
		if w < 0 || w >= workers {
			errs = append(errs, fmt.Errorf("worker %d is not there: give 0 to %d", w, workers-1))
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateFaults() error {
	var errs []error
	for i, f := range c.Faults {
		if err := f.validate(c.Workers); err != nil {
			errs = append(errs, fmt.Errorf("fault %d (%s): %w", i+1, f.Kind, err))
		}
	}
	return errors.Join(errs...)
}

// state is what the faults in force make of the cluster. Its last place
// stands for what belongs to no worker.
type state struct {
	active []*Fault
	now    []condition
}

// condition is the state of a worker.
type condition struct {
	factor     map[FaultKind]float64
	hung, lost bool
}

func newState(workers int) state { return state{now: make([]condition, workers+1)} }

// factor is the product of a kind's factors for a worker, -1 for none.
func (s *state) factor(k FaultKind, worker int) float64 {
	if worker < 0 {
		worker = len(s.now) - 1
	}
	if f, ok := s.now[worker].factor[k]; ok {
		return f
	}
	return 1
}

func (s *state) lost(worker int) bool { return s.now[worker].lost }
func (s *state) hung(worker int) bool { return s.now[worker].hung }

// update works out the conditions anew.
func (s *state) update() {
	for w := range s.now {
		s.now[w] = condition{}
		for _, f := range s.active {
			if len(f.Workers) == 0 || slices.Contains(f.Workers, w) {
				s.now[w].apply(f)
			}
		}
	}
}

func (c *condition) apply(f *Fault) {
	switch f.Kind {
	case Hang:
		c.hung = true
	case WorkerLoss:
		c.lost = true
	default:
		if c.factor == nil {
			c.factor = make(map[FaultKind]float64)
		}
		if _, ok := c.factor[f.Kind]; !ok {
			c.factor[f.Kind] = 1
		}
		c.factor[f.Kind] *= f.Factor
	}
}

// Inject lets a fault happen. An At that has passed is now.
func (c *Cluster) Inject(f Fault) error {
	if err := f.validate(len(c.workers)); err != nil {
		return fmt.Errorf("fault %s: %w", f.Kind, err)
	}
	c.inject(f)
	return nil
}

func (c *Cluster) inject(f Fault) {
	c.agenda.add(max(f.At, c.now), func() {
		if f.Kind == ColdCache {
			c.each(f.Workers, func(w *worker) { w.pool.clear() })
			return
		}
		c.state.active = append(c.state.active, &f)
		c.changed()
		if f.For > 0 {
			c.agenda.add(c.now+f.For, func() {
				c.state.active = slices.DeleteFunc(c.state.active, func(a *Fault) bool { return a == &f })
				c.changed()
			})
		}
	})
}

// changed lets the workers take note of new conditions.
func (c *Cluster) changed() {
	was := slices.Clone(c.state.now)
	c.state.update()
	for _, w := range c.workers {
		if c.state.lost(w.id) && !was[w.id].lost {
			w.die()
		}
		w.wake()
	}
}

// each calls do for some workers, for all if none are named.
func (c *Cluster) each(ids []int, do func(*worker)) {
	for _, w := range c.workers {
		if len(ids) == 0 || slices.Contains(ids, w.id) {
			do(w)
		}
	}
}

// delay returns d as the network has it now.
func (c *Cluster) delay(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.state.factor(SlowNetwork, -1))
}
