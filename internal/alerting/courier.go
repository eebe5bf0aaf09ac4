package alerting

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// batchSize is the most alerts of one request.
	batchSize = 256
	// leastBackoff and mostBackoff bound the wait after a failed request.
	leastBackoff, mostBackoff = time.Second, 30 * time.Second
	// rounds is how often a courier looks for reminders that are due.
	rounds = resend / 4
	// farewell is how long a stopping courier tries to deliver what is new.
	farewell = 5 * time.Second
)

// courier keeps one Alertmanager up to date with the ledger.
type courier struct {
	ledger *ledger
	client *client
	logger *slog.Logger
	wake   <-chan struct{}

	mu     sync.Mutex
	counts courierCounts
}

// courierCounts are what a courier tells of itself.
type courierCounts struct {
	sent, failed, rejected uint64 // requests that were taken or not; alerts that were refused
	lastOK                 time.Time
	lastErr                error
}

// run delivers until ctx is done, and then what is new once more.
func (c *courier) run(ctx context.Context) {
	defer c.client.close()
	ticker := time.NewTicker(rounds)
	defer ticker.Stop()
	for backoff := time.Duration(0); ; {
		if c.deliver(ctx, false) {
			backoff = 0
		} else {
			backoff = min(max(2*backoff, leastBackoff), mostBackoff)
		}
		if !c.wait(ctx, backoff, ticker.C) {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	c.deliver(last, true)
}

// wait returns when there may be something to do: after a failure when the
// backoff is over, otherwise at a change or at the next round. It reports
// false when ctx is done.
func (c *courier) wait(ctx context.Context, backoff time.Duration, round <-chan time.Time) bool {
	if backoff > 0 {
		timer := time.NewTimer(backoff)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		}
	}
	select {
	case <-ctx.Done():
		return false
	case <-c.wake:
	case <-round:
	}
	return true
}

// deliver sends all that is due, and reports whether it was taken.
func (c *courier) deliver(ctx context.Context, onlyUrgent bool) bool {
	for {
		letters := c.ledger.due(c.client.url, batchSize, onlyUrgent)
		if len(letters) == 0 {
			return true
		}
		err := c.send(ctx, letters)
		c.note(ctx, err, len(letters))
		if err != nil {
			return false
		}
		c.ledger.told(c.client.url, letters)
	}
}

// send posts the letters. If a batch is refused, each is tried alone: one
// alert that an Alertmanager does not like must not keep the others back.
func (c *courier) send(ctx context.Context, letters []letter) error {
	messages := make([]message, len(letters))
	for i, l := range letters {
		messages[i] = l.message
	}
	err := c.client.send(ctx, messages)
	if !errors.Is(err, errRejected) {
		return err
	}
	if len(letters) == 1 {
		c.mu.Lock()
		c.counts.rejected++
		c.mu.Unlock()
		c.logger.Error("The Alertmanager refuses an alert; it is not paged by it", "alertmanager", c.client.url, "alert", letters[0].message.Labels.String(), "err", err)
		return nil
	}
	for i := range letters {
		if err := c.send(ctx, letters[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// note counts a delivery and says when deliveries begin to fail and when they
// succeed again.
func (c *courier) note(ctx context.Context, err error, alerts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.counts.lastErr
	c.counts.lastErr = err
	if err == nil {
		c.counts.sent++
		c.counts.lastOK = c.ledger.clock.wall()
		if was != nil {
			c.logger.Info("The Alertmanager takes alerts again", "alertmanager", c.client.url)
		}
		return
	}
	c.counts.failed++
	if was == nil && ctx.Err() == nil {
		c.logger.Error("The Alertmanager does not take alerts; trying again until it does", "alertmanager", c.client.url, "alerts", alerts, "err", err)
	}
}

func (c *courier) status() courierCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}
