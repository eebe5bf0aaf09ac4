package sweep

import (
	"context"
	"sync"
	"time"
)

// gate lets conversation starts through at most at a rate, at equal distances,
// to whoever asks first.
type gate struct {
	every time.Duration // 0 lets everything through

	mu   sync.Mutex
	next time.Time
}

// newGate returns a gate for starts per second; 0 is no limit.
func newGate(perSecond float64) *gate {
	g := &gate{}
	if perSecond > 0 {
		g.every = time.Duration(float64(time.Second) / perSecond)
	}
	return g
}

// wait returns when the caller's turn has come, and the time at which it came;
// false when ctx ended first. A turn that is given up is lost.
func (g *gate) wait(ctx context.Context) (time.Time, bool) {
	due := g.take(time.Now())
	return due, pause(ctx, time.Until(due))
}

func (g *gate) take(now time.Time) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	due := now
	if g.next.After(now) {
		due = g.next
	}
	g.next = due.Add(g.every)
	return due
}

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
