package workload

import (
	"sync"
	"time"
)

// Budget holds conversations to so many tokens in a time, by a bucket for each
// limit. What a conversation costs is known only afterwards: Allow takes an
// estimate out, Settle puts the difference back or takes it, so that a bucket may
// be in debt for a while but the rate holds over time. The debt is bounded: a
// server whose usage is nonsense must not silence its prober for days. A nil
// Budget allows everything. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	buckets []bucket
}

// bucket fills evenly to its size.
type bucket struct {
	size, tokens float64
	// fills is how long it takes to fill, owes how many times its size it may owe.
	fills  time.Duration
	owes   float64
	filled time.Time
}

// NewBudget returns a Budget of full buckets, or nil (no limit) if neither limit
// is positive. That of a day holds an hour's worth: conversations spread over the
// day, and a process that begins anew spends at most so much twice.
func NewBudget(t Traffic) *Budget {
	var b Budget
	if n := float64(t.TokensPerMinute); n > 0 {
		b.buckets = append(b.buckets, bucket{size: n, tokens: n, fills: time.Minute, owes: 60})
	}
	if n := float64(t.TokensPerDay) / 24; n > 0 {
		b.buckets = append(b.buckets, bucket{size: n, tokens: n, fills: time.Hour, owes: 24})
	}
	if len(b.buckets) == 0 {
		return nil
	}
	return &b
}

// Allow takes the estimated tokens and reports whether they were there. It
// never waits. An estimate over what a bucket holds is allowed when that is full:
// it could never start otherwise. An extra one must leave half of each bucket: it
// must not take what a calm start will need.
func (b *Budget) Allow(now time.Time, estimate int, extra bool) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.buckets {
		k := &b.buckets[i]
		need := min(float64(estimate), k.size)
		if extra {
			need = float64(estimate) + k.size/2
		}
		if k.fill(now); k.tokens < need {
			return false
		}
	}
	for i := range b.buckets {
		b.buckets[i].tokens -= float64(estimate)
	}
	return true
}

// Settle corrects an allowed estimate to what was really used.
func (b *Budget) Settle(estimate, actual int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.buckets {
		k := &b.buckets[i]
		k.tokens = min(max(k.tokens+float64(estimate-actual), -k.owes*k.size), k.size)
	}
}

func (k *bucket) fill(now time.Time) {
	if k.filled.IsZero() {
		k.filled = now
	}
	if elapsed := now.Sub(k.filled); elapsed > 0 {
		k.tokens = min(k.tokens+k.size*float64(elapsed)/float64(k.fills), k.size)
		k.filled = now
	}
}
