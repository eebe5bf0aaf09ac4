// Package bound measures how much of each limit of the process is in use, for metrics, and shortens texts.
package bound

import (
	"sync"
	"sync/atomic"
)

// Bound is the metric of one limit.
type Bound struct {
	// Name is a label value: short, snake_case, ending in the unit.
	Name string
	// Level returns the use and the limit, in the unit of Name. A limit of 0 means no limit.
	Level func() (used, limit float64)
}

// Budget limits how many things (bytes, connections) are in use. It never blocks. A nil Budget
// has no limit. It is safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns nil (no limit) if limit is not positive.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// Take takes n things. It returns false, and takes nothing, if fewer are left.
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

// Return gives back n things.
func (b *Budget) Return(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// Level returns the current use and the limit.
func (b *Budget) Level() (used, limit float64) {
	if b == nil {
		return 0, 0
	}
	return float64(b.used.Load()), float64(b.limit)
}

// Claim is the share of a Budget that one owner holds. A nil Claim has no limit. It is not safe
// for concurrent use.
type Claim struct {
	budget *Budget
	held   int64
}

// Claim takes n things for an owner that may need more later.
func (b *Budget) Claim(n int64) (*Claim, bool) {
	c := &Claim{budget: b}
	return c, c.Grow(n)
}

// Grow makes the owner hold at least n things. It returns false if too few are left; the owner
// then keeps its share.
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

// Release gives back everything.
func (c *Claim) Release() {
	if c != nil {
		c.budget.Return(c.held)
		c.held = 0
	}
}

// Peak remembers the highest use relative to its limit. The limit may differ from one record to
// the next. A nil Peak records nothing. It is safe for concurrent use.
type Peak struct {
	mu          sync.Mutex
	used, limit float64
}

func (p *Peak) Record(used, limit int64) {
	if p == nil || limit <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == 0 || float64(used)/float64(limit) > p.used/p.limit {
		p.used, p.limit = float64(used), float64(limit)
	}
}

// Level returns the use and limit of the highest record, or 0 and 0.
func (p *Peak) Level() (used, limit float64) {
	if p == nil {
		return 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used, p.limit
}
