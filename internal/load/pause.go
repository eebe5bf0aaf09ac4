package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff returns pauses that double up to a maximum. Each is drawn from the upper half of its
// range, so that many clients do not retry at the same time.
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

// Pause waits for d. It returns false if ctx is done.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	return await(ctx, time.After(d), nil)
}

// await waits for done. It returns false if ctx is done. It calls alive, if set, at once and
// every beatEvery.
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
