package workload

import (
	"sync"
	"time"
)

// Budget limits tokens per time with one bucket per limit. The tokens of a conversation are
// only known afterwards: Allow takes an estimate, and Settle corrects it. A bucket may be in
// debt for a while, but over time the limit holds. The debt is bounded, so that a server that
// reports absurd usage does not silence its prober for days. A nil Budget has no limit. It is
// safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	buckets []bucket
}

// bucket fills at a constant rate.
type bucket struct {
	size, tokens float64
	// fillTime is how long it takes to fill. The maximum debt is maxDebt × size.
	fillTime time.Duration
	maxDebt  float64
	lastFill time.Time
}

// NewBudget returns a Budget with full buckets, or nil if there is no limit. The bucket of a
// day has the size of an hour: that spreads the conversations over the day, and a restart can
// spend at most an hour's tokens again.
func NewBudget(t Traffic) *Budget {
	var b Budget
	if n := float64(t.TokensPerMinute); n > 0 {
		b.buckets = append(b.buckets, bucket{size: n, tokens: n, fillTime: time.Minute, maxDebt: 60})
	}
	if n := float64(t.TokensPerDay) / 24; n > 0 {
		b.buckets = append(b.buckets, bucket{size: n, tokens: n, fillTime: time.Hour, maxDebt: 24})
	}
	if len(b.buckets) == 0 {
		return nil
	}
	return &b
}

// Allow takes the estimated tokens, or returns false if there are too few. An estimate larger
// than a bucket is allowed if the bucket is full, because it could never start otherwise. A
// burst must leave half of each bucket to the base traffic.
func (b *Budget) Allow(now time.Time, estimate int, burst bool) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.buckets {
		bucket := &b.buckets[i]
		need := min(float64(estimate), bucket.size)
		if burst {
			need = float64(estimate) + bucket.size/2
		}
		if bucket.fill(now); bucket.tokens < need {
			return false
		}
	}
	for i := range b.buckets {
		b.buckets[i].tokens -= float64(estimate)
	}
	return true
}

// Settle corrects an estimate to the tokens really used.
func (b *Budget) Settle(estimate, actual int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.buckets {
		bucket := &b.buckets[i]
		bucket.tokens = min(max(bucket.tokens+float64(estimate-actual), -bucket.maxDebt*bucket.size), bucket.size)
	}
}

func (k *bucket) fill(now time.Time) {
	if k.lastFill.IsZero() {
		k.lastFill = now
	}
	if elapsed := now.Sub(k.lastFill); elapsed > 0 {
		k.tokens = min(k.tokens+k.size*float64(elapsed)/float64(k.fillTime), k.size)
		k.lastFill = now
	}
}
