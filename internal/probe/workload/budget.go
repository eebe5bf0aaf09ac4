package workload

import (
	"sync"
	"time"
)

// Budget is a bucket of tokens that holds one minute's worth and fills evenly.
// What a conversation costs is known only afterwards: Allow takes an estimate
// out, Settle puts the difference back or takes it, so that the bucket may be
// in debt for a while but the rate holds over time. The debt is bounded: a
// server whose usage is nonsense must not silence its prober for days. A nil
// Budget allows everything. It is safe for concurrent use.
type Budget struct {
	mu     sync.Mutex
	size   float64
	tokens float64
	filled time.Time
}

// NewBudget returns a full bucket, or nil (no limit) if perMinute is not
// positive.
func NewBudget(perMinute int) *Budget {
	if perMinute <= 0 {
		return nil
	}
	return &Budget{size: float64(perMinute), tokens: float64(perMinute)}
}

// Allow takes the estimated tokens and reports whether they were there. It
// never waits. An estimate over a whole minute's worth is allowed when the
// bucket is full: it could never start otherwise.
func (b *Budget) Allow(now time.Time, estimate int) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	if b.tokens < min(float64(estimate), b.size) {
		return false
	}
	b.tokens -= float64(estimate)
	return true
}

// maxDebt is how many minutes' worth of tokens a bucket may owe.
const maxDebt = 60

// Settle corrects an allowed estimate to what was really used.
func (b *Budget) Settle(estimate, actual int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(max(b.tokens+float64(estimate-actual), -maxDebt*b.size), b.size)
}

func (b *Budget) fill(now time.Time) {
	if b.filled.IsZero() {
		b.filled = now
	}
	if elapsed := now.Sub(b.filled); elapsed > 0 {
		b.tokens = min(b.tokens+b.size*elapsed.Minutes(), b.size)
		b.filled = now
	}
}
