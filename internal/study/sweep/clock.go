package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// rounds is how often the clock is asked at a time; the quickest answer counts.
const rounds = 8

// bounds hold what is to be added to this clock to have shard 0's, in all that was
// measured so far. The zero value knows nothing.
type bounds struct {
	low, high time.Duration
	known     bool
	// last is by the last measurement of this process, if it was measured: the clock of an
	// earlier one may be another.
	last     time.Duration
	measured bool
}

// Measure asks shard 0 for its time. That lies between the question and the answer,
// so half of the quickest round is the bound of the error, whatever the two ways
// took (the way of NTP, RFC 5905 section 8). Clocks drift, so it is asked before
// each level.
func (c *Client) Measure(ctx context.Context) error {
	best, offset := time.Duration(math.MaxInt64), time.Duration(0)
	for range rounds {
		var there time.Time
		sent := time.Now()
		if err := c.call(ctx, http.MethodGet, pathClock, nil, &there); err != nil {
			return err
		}
		if took := time.Since(sent); took < best {
			best, offset = took, there.Sub(sent.Add(took/2))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.add(offset, best/2)
	c.clock.last, c.clock.measured = offset, true
	return nil
}

// Recall takes in what an earlier process of this shard knew of the two clocks, so that
// Clock holds for what that one measured, too.
func (c *Client) Recall(offset, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.add(offset, within)
}

func (b *bounds) add(offset, within time.Duration) {
	low, high := offset-within, offset+within
	if b.known {
		low, high = min(low, b.low), max(high, b.high)
	}
	b.low, b.high, b.known = low, high, true
}

// Clock is what is to be added to this shard's clock to have shard 0's, and how far
// that may be off, in all that is known of it.
func (c *Client) Clock() (offset, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.clock.low + c.clock.high) / 2, (c.clock.high - c.clock.low) / 2
}

// Here is when it is that time of shard 0's, on this clock: that of a step just
// announced, which is near. One that is not tells of a clock that was set since it
// was measured, by which nothing can begin or end together.
func (c *Client) Here(there time.Time) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.clock.measured {
		return now, errors.New("the clock of shard 0 could not be read")
	}
	away := there.Sub(now.Add(c.clock.last))
	if away.Abs() > Silence {
		return now, fmt.Errorf("the time that shard 0 announced is %s away: this shard heard of it late, or a clock was set meanwhile", away.Round(time.Second))
	}
	return now.Add(away), nil // with the monotonic clock of now
}
