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
	case SlowPrefill, SlowDecode, SlowNetwork, Acceptance:
		errs = append(errs, within("factor", f.Factor, 1e6, "a number from 0 to 1e6"))
	default:
		errs = append(errs, fmt.Errorf("kind %q is unknown", f.Kind))
	}
	for _, w := range f.Workers {
		if w < 0 || w >= workers {
			errs = append(errs, fmt.Errorf("worker %d is not there: give 0 to %d", w, workers-1))
		}
	}
	return errors.Join(errs...)
}

// befalls says whether the fault is of a kind and affects a worker; -1 stands
// for what belongs to no worker.
func (f *Fault) befalls(k FaultKind, worker int) bool {
	return f.Kind == k && (len(f.Workers) == 0 || slices.Contains(f.Workers, worker))
}

// factor is the product of a kind's factors in force.
func (c *Cluster) factor(k FaultKind, worker int) float64 {
	product := 1.0
	for _, f := range c.faults {
		if f.befalls(k, worker) {
			product *= f.Factor
		}
	}
	return product
}

// suffers says whether a fault of a kind is in force.
func (c *Cluster) suffers(k FaultKind, worker int) bool {
	return slices.ContainsFunc(c.faults, func(f *Fault) bool { return f.befalls(k, worker) })
}

// schedule lets a fault happen at its time.
func (c *Cluster) schedule(f Fault) {
	c.agenda.add(f.At, 0, func() {
		if f.Kind == ColdCache {
			for _, w := range c.workers {
				if f.befalls(ColdCache, w.id) {
					w.pool.clear()
				}
			}
			return
		}
		c.faults = append(c.faults, &f)
		c.changed()
		if f.For > 0 {
			c.agenda.add(c.now+f.For, 0, func() {
				c.faults = slices.DeleteFunc(c.faults, func(a *Fault) bool { return a == &f })
				c.changed()
			})
		}
	})
}

// changed lets the workers take note of the faults in force.
func (c *Cluster) changed() {
	for _, w := range c.workers {
		was := w.lost
		if w.lost = c.suffers(WorkerLoss, w.id); w.lost && !was {
			w.die()
		}
		w.wake()
	}
}

// delay returns d as the network has it now.
func (c *Cluster) delay(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.factor(SlowNetwork, -1))
}
