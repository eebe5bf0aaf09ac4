package cluster

import (
	"slices"
	"time"
)

// FaultKind says what a Fault does.
type FaultKind string

const (
	// SlowPrefill and SlowDecode multiply the duration of steps by Factor.
	SlowPrefill FaultKind = "slow_prefill"
	SlowDecode  FaultKind = "slow_decode"
	// Hang makes workers accept requests and start no step.
	Hang FaultKind = "hang"
	// WorkerLoss stops workers and fails their requests. They return with an empty cache.
	WorkerLoss FaultKind = "worker_loss"
)

// Fault is a fault with a schedule. The factors of overlapping faults of a kind are multiplied.
type Fault struct {
	Kind FaultKind
	// At is the start of the fault, For its duration; 0 means that it never ends.
	At, For time.Duration
	// Workers are the numbers of the affected workers; empty means all workers.
	Workers []int
	Factor  float64
}

// affects reports whether the fault has this kind and affects this worker.
func (f *Fault) affects(k FaultKind, worker int) bool {
	return f.Kind == k && (len(f.Workers) == 0 || slices.Contains(f.Workers, worker))
}

// factor returns the product of the factors of all active faults of a kind.
func (c *Cluster) factor(k FaultKind, worker int) float64 {
	product := 1.0
	for _, f := range c.faults {
		if f.affects(k, worker) {
			product *= f.Factor
		}
	}
	return product
}

func (c *Cluster) hasFault(k FaultKind, worker int) bool {
	return slices.ContainsFunc(c.faults, func(f *Fault) bool { return f.affects(k, worker) })
}

// schedule puts the start of a fault on the agenda; the start then adds its end.
func (c *Cluster) schedule(f Fault) {
	c.agenda.add(f.At, 0, func() {
		c.faults = append(c.faults, &f)
		c.faultsChanged()
		if f.For > 0 {
			c.agenda.add(c.now+f.For, 0, func() {
				c.faults = slices.DeleteFunc(c.faults, func(a *Fault) bool { return a == &f })
				c.faultsChanged()
			})
		}
	})
}

// faultsChanged stops workers that are now lost and starts steps of workers that no longer hang.
func (c *Cluster) faultsChanged() {
	for _, w := range c.workers {
		wasLost := w.lost
		if w.lost = c.hasFault(WorkerLoss, w.id); w.lost && !wasLost {
			w.die()
		}
		w.wake()
	}
}
