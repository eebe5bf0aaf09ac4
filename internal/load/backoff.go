package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff gives growing pauses: each doubles the one before, up to a maximum,
// and is drawn from the upper half of that, so that many do not retry in step.
type backoff struct {
	rng       *rand.Rand
	base, max time.Duration
	wait      time.Duration
}

func newBackoff(seed uint64, base, max time.Duration) *backoff {
	return &backoff{rng: rand.New(rand.NewPCG(seed, seed)), base: base, max: max}
}

// next returns the next pause.
func (b *backoff) next() time.Duration {
	b.wait = min(max(2*b.wait, b.base), b.max)
	half := b.wait / 2
	return half + time.Duration(b.rng.Int64N(int64(half)+1))
}

// reset begins anew with the shortest pause.
func (b *backoff) reset() { b.wait = 0 }

// pause waits for d and reports whether ctx still stands.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
