package workload

import (
	"sync"
	"time"
)

// TokenBudget allows so many Tokens in each time of length Per. The zero value has no limit.
type TokenBudget struct {
	Tokens int
	Per    time.Duration
}

// perDay returns the tokens of a day, or 0 without a limit.
func (b TokenBudget) perDay() float64 {
	if b.Tokens == 0 {
		return 0
	}
	return float64(b.Tokens) * float64(24*time.Hour) / float64(b.Per)
}

// Budget is a bucket of tokens that fills at a constant rate. The tokens of a conversation are
// only known afterwards: Allow takes an estimate, and Settle corrects it. The bucket may be in
// debt for a while, but over time the limit holds. A nil Budget has no limit. It is safe for
// concurrent use.
type Budget struct {
	mu           sync.Mutex
	size, tokens float64
	// fillTime is how long the bucket takes to fill. maxDebt is the largest debt, so that a
	// server that reports absurd usage does not silence its prober for days.
	fillTime time.Duration
	maxDebt  float64
	lastFill time.Time
}

// NewBudget returns a Budget with a full bucket, or nil if there is no limit. The bucket holds
// the tokens of an hour at most: that spreads the conversations over the day, and a restart can
// spend at most an hour's tokens again.
func NewBudget(b TokenBudget) *Budget {
	if b.Tokens == 0 {
		return nil
	}
	fillTime, debtTime := min(b.Per, time.Hour), max(b.Per, time.Hour)
	perNanosecond := float64(b.Tokens) / float64(b.Per)
	size := perNanosecond * float64(fillTime)
	return &Budget{size: size, tokens: size, fillTime: fillTime, maxDebt: perNanosecond * float64(debtTime)}
}

// Allow takes the estimated tokens, or returns false if there are too few. An estimate larger
// than the bucket is allowed if the bucket is full, because it could never start otherwise. A
// burst must leave half of the bucket to the base traffic.
func (b *Budget) Allow(now time.Time, estimate int, burst bool) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	need := min(float64(estimate), b.size)
	if burst {
		need = float64(estimate) + b.size/2
	}
	if b.fill(now); b.tokens < need {
		return false
	}
	b.tokens -= float64(estimate)
	return true
}

// Settle corrects an estimate to the tokens really used.
func (b *Budget) Settle(estimate, actual int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(max(b.tokens+float64(estimate-actual), -b.maxDebt), b.size)
}

func (b *Budget) fill(now time.Time) {
	if b.lastFill.IsZero() {
		b.lastFill = now
	}
	if elapsed := now.Sub(b.lastFill); elapsed > 0 {
		b.tokens = min(b.tokens+b.size*float64(elapsed)/float64(b.fillTime), b.size)
		b.lastFill = now
	}
}
