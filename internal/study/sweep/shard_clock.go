package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// rounds is the number of requests in one clock measurement. The fastest one counts.
const rounds = 8

// bounds limits the difference of shard 0's clock to this one, over all measurements so far.
// The zero value means unknown.
type bounds struct {
	low, high time.Duration
	known     bool
	// last is the last measurement of this process, if any: an earlier process may have had
	// another clock.
	last     time.Duration
	measured bool
}

// Measure asks shard 0 for its time. That time lies between the request and the answer, so half
// of the fastest round trip bounds the error (as in NTP, RFC 5905 section 8). Clocks drift, so
// it is measured before each level.
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

// Recall adds what an earlier process of this shard knew about the clocks, so that Clock also
// holds for its measurements.
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

// Clock returns the difference of shard 0's clock to this one, and its uncertainty.
func (c *Client) Clock() (offset, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.clock.low + c.clock.high) / 2, (c.clock.high - c.clock.low) / 2
}

// Here converts a time of shard 0 to this clock. A time that is far from now means that a clock
// was set since the measurement: then shards cannot start or end together, and Here returns an
// error.
func (c *Client) Here(there time.Time) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.clock.measured {
		return now, errors.New("the clock of shard 0 could not be read")
	}
	away := there.Sub(now.Add(c.clock.last))
	if away.Abs() > SilenceLimit {
		return now, fmt.Errorf("the time that shard 0 announced is %s away: this shard heard of it late, or a clock was set meanwhile", away.Round(time.Second))
	}
	return now.Add(away), nil // with this process's monotonic clock
}
