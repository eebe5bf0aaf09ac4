package sidecar

import (
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// trial keeps leased targets away from the sinks that alerts depend on until a turn of theirs has
// succeeded. Whoever may lease targets could otherwise page people with addresses that never worked.
// It passes other targets on at once.
type trial struct {
	judges fleet.Sink
	// leased returns a function that reports whether a target is leased.
	leased func() func(target string) bool
	// saved reports whether an earlier process saved the state of a job, so that a turn has succeeded.
	saved func(probe.Key) bool

	mu      sync.RWMutex
	targets map[string]*candidate // leased ones, by name
}

// candidate is a leased target.
type candidate struct {
	base              string    // its address
	since             time.Time // when it got this address
	jobs              map[probe.Key]fleet.Job
	model             *probe.ModelFound // reported once for each job, so it has to wait for the judges
	failed, succeeded bool
}

// Add implements fleet.Sink.
func (t *trial) Add(j fleet.Job) {
	leased := t.leased()(j.Target.Name) // takes the follower's lock, so it precedes the own lock
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.targets[j.Target.Name]
	if c == nil && leased {
		c = &candidate{jobs: map[probe.Key]fleet.Job{}}
		t.targets[j.Target.Name] = c
	}
	if c == nil {
		t.judges.Add(j)
		return
	}
	c.jobs[j.Key()] = j
	if c.base != j.Target.BaseURL { // the lease of another address with this name gave way
		c.base, c.since, c.failed = j.Target.BaseURL, time.Now(), false
	}
	switch {
	case c.succeeded:
		t.judges.Add(j)
	case t.saved(j.Key()):
		t.admit(c)
	}
}

// admit announces the jobs of a target whose turn has succeeded to the judges.
func (t *trial) admit(c *candidate) {
	c.succeeded = true
	for _, j := range c.jobs {
		t.judges.Add(j)
	}
	if c.model != nil {
		t.judges.Observe(*c.model)
	}
}

// Observe implements fleet.Sink.
func (t *trial) Observe(e probe.Event) {
	t.mu.RLock()
	c := t.targets[e.Key().Target]
	waits := c != nil && !c.succeeded
	t.mu.RUnlock()
	if waits && !t.try(c, e) {
		return
	}
	t.judges.Observe(e)
}

// try takes an event of a target on trial, and reports whether the target is admitted.
func (t *trial) try(c *candidate, e probe.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case probe.ModelFound:
		c.model = &e
	case probe.Result:
		if e.Scheduled.Before(c.since) { // a turn of the address before
			return c.succeeded
		}
		if e.Outcome == probe.Success && !c.succeeded {
			t.admit(c)
		}
		c.failed = c.failed || e.Outcome.Failed()
	}
	return c.succeeded
}

// Remove implements fleet.Sink.
func (t *trial) Remove(key probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.targets[key.Target]; c != nil {
		if delete(c.jobs, key); len(c.jobs) == 0 {
			delete(t.targets, key.Target)
		}
	}
	t.judges.Remove(key)
}

// onlyFailed reports whether turns of a leased target have failed and none has succeeded. base is its
// address, or "" for any.
func (t *trial) onlyFailed(target, base string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := t.targets[target]
	return c != nil && c.failed && !c.succeeded && (base == "" || base == c.base)
}
