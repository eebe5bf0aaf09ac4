package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Work is one request to an engine.
type Work struct {
	// CachedTokens of the PromptTokens need no prefill.
	PromptTokens, CachedTokens int
	// OutputTokens is at least 1.
	OutputTokens int
	// Rand belongs to this request. Only one goroutine uses it.
	Rand *rand.Rand
}

type engine interface {
	// Generate calls emit with the number of new tokens whenever an event is due, until
	// OutputTokens were emitted. It returns early with the error of ctx or of emit. It runs in the
	// goroutine of the request and must not start another.
	Generate(ctx context.Context, w Work, emit func(tokens int) error) error
}

// paced is the engine of the configured delays. Requests do not affect each other.
type paced Options

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
		n := min(left, p.eventTokens(w.Rand))
		if err := emit(n); err != nil {
			return err
		}
		if left -= n; left == 0 {
			return nil
		}
		// Due times add up from the start, so a late event does not delay the events after it.
		due += p.InterToken.draw(w.Rand)
		timer.Reset(time.Until(start.Add(due)))
	}
}

// eventTokens draws the number of tokens of one event, TokensPerEvent on average.
func (p paced) eventTokens(r *rand.Rand) int {
	whole, part := math.Modf(p.TokensPerEvent)
	if r.Float64() < part {
		whole++
	}
	return int(whole)
}
