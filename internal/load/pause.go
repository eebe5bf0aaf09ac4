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

func (b *backoff) next() time.Duration {
	b.wait = min(max(2*b.wait, b.base), b.max)
	half := b.wait / 2
	return half + time.Duration(b.rng.Int64N(int64(half)+1))
}

// Pause waits for d and reports whether ctx still stands.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	return await(ctx, time.After(d), nil)
}

// await waits for done, and reports whether it came and ctx still stands. It
// calls alive, unless nil, at once and every beatEvery.
func await[T any](ctx context.Context, done <-chan T, alive func()) bool {
	var beats <-chan time.Time
	if alive != nil {
		alive()
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		beats = tick.C
	}
	for {
		select {
		case <-done:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		case <-beats:
			alive()
		}
	}
}
