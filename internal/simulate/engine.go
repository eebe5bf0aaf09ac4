package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Work is what one request asks of an engine.
type Work struct {
	// PromptTokens is the whole prompt; CachedTokens of them need no prefill.
	PromptTokens, CachedTokens int
	// OutputTokens are to be generated, at least 1.
	OutputTokens int
	// Rand is the request's own source of draws; one goroutine uses it.
	Rand *rand.Rand
}

// Engine decides how long a request takes. It is the only part of a deployment
// that knows about time.
type Engine interface {
	// Generate calls emit with the number of new tokens each time an event is
	// due, until OutputTokens are out in all. It returns early with the
	// context's error when ctx ends, or with emit's. It is called from the
	// goroutine of each request and must not keep one of its own.
	Generate(ctx context.Context, w Work, emit func(tokens int) error) error
}

// paced is the engine of the options' delays: every request runs at its own
// pace, as if it were alone.
type paced Options

// Generate implements Engine.
func (p paced) Generate(ctx context.Context, w Work, emit func(int) error) error {
	start := time.Now()
	due := p.FirstToken.draw(w.Rand) + time.Duration(w.PromptTokens-w.CachedTokens)*p.Prefill
	timer := time.NewTimer(due)
	defer timer.Stop()
	for left := w.OutputTokens; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		n := min(left, p.burst(w.Rand))
		if err := emit(n); err != nil {
			return err
		}
		if left -= n; left == 0 {
			return nil
		}
		// Deadlines add up from the start, so a late wake-up does not push
		// back the events after it.
		due += p.InterToken.draw(w.Rand)
		timer.Reset(time.Until(start.Add(due)))
	}
}

// burst draws the number of tokens of one event, TokensPerEvent on average.
func (p paced) burst(r *rand.Rand) int {
	whole, part := math.Modf(p.TokensPerEvent)
	if r.Float64() < part {
		whole++
	}
	return int(whole)
}
