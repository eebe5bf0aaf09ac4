package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// pace calls emit with the number of new tokens whenever an event is due, until all output tokens were emitted.
// uncached are the prompt tokens that need prefill. It returns early with the error of ctx or of emit. Requests do not
// affect each other.
func (o Options) pace(ctx context.Context, r *rand.Rand, uncached, output int, emit func(tokens int) error) error {
	start := time.Now()
	due := o.FirstToken.draw(r) + time.Duration(uncached)*o.Prefill
	timer := time.NewTimer(due)
	defer timer.Stop()
	for left := output; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		n := min(left, o.eventTokens(r))
		if err := emit(n); err != nil {
			return err
		}
		if left -= n; left == 0 {
			return nil
		}
		// Due times add up from the start, so a late event does not delay the events after it.
		due += o.InterToken.draw(r)
		timer.Reset(time.Until(start.Add(due)))
	}
}

// eventTokens draws the number of tokens of one event, TokensPerEvent on average.
func (o Options) eventTokens(r *rand.Rand) int {
	whole, part := math.Modf(o.TokensPerEvent)
	if r.Float64() < part {
		whole++
	}
	return int(whole)
}
