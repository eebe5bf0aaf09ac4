// Package bound has what every bound of a process has in common: a limit, and
// how near it is. What a bound protects, and what happens at it, is said where
// it is used.
package bound

import (
	"sync"
	"sync/atomic"
)

// Bound is one bound, for a metric.
type Bound struct {
	// Name is the value of a label: short, snake_case, with the unit at its end.
	Name string
	// Level returns what is used of the limit, in the unit of the name. A limit
	// of 0 is none.
	Level func() (used, limit float64)
}

// Budget is a number of things (bytes, connections) of which no more than a
// limit may be in use. It never waits. A nil Budget has no limit. It is safe
// for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a Budget of limit things, or nil (no limit) if limit is not
// positive.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// Take takes n things and reports whether they were there.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	for {
		used := b.used.Load()
		if used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Give gives n things back that were taken.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// Level returns what is in use now, and the limit.
func (b *Budget) Level() (used, limit float64) {
	if b == nil {
		return 0, 0
	}
	return float64(b.used.Load()), float64(b.limit)
}

// Claim is what one owner has taken of a Budget. A nil Claim has no limit. It
// is not safe for concurrent use.
type Claim struct {
	budget *Budget
	held   int64
}

// Claim takes n things for an owner who may come to need more.
func (b *Budget) Claim(n int64) (*Claim, bool) {
	c := &Claim{budget: b}
	return c, c.Grow(n)
}

// Grow makes sure that the owner holds at least n things, and reports whether
// they were there. What is held already stays held.
func (c *Claim) Grow(n int64) bool {
	if c == nil || n <= c.held {
		return true
	}
	if !c.budget.Take(n - c.held) {
		return false
	}
	c.held = n
	return true
}

// Release gives everything back.
func (c *Claim) Release() {
	if c != nil {
		c.budget.Give(c.held)
		c.held = 0
	}
}

// Peak remembers how near something that is bounded each time has come to its
// limit, which may differ from one time to the next. A nil Peak remembers
// nothing. It is safe for concurrent use.
type Peak struct {
	mu          sync.Mutex
	used, limit float64
}

// See takes one time.
func (p *Peak) See(used, limit int64) {
	if p == nil || limit <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == 0 || float64(used)/float64(limit) > p.used/p.limit {
		p.used, p.limit = float64(used), float64(limit)
	}
}

// Level returns the time that came nearest, 0 of 0 before the first.
func (p *Peak) Level() (used, limit float64) {
	if p == nil {
		return 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used, p.limit
}
