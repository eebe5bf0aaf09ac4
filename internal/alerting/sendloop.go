package alerting

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// batchSize bounds the alerts of one request.
	batchSize = 256
	// leastBackoff and mostBackoff bound the wait after a failed request.
	leastBackoff, mostBackoff = time.Second, 30 * time.Second
	// reminderInterval is how often a loop checks for due reminders.
	reminderInterval = resend / 4
	// drainTimeout bounds the last delivery of a stopping loop.
	drainTimeout = 5 * time.Second
)

// sendLoop sends the states of alerts to one Alertmanager.
type sendLoop struct {
	states  *alertStates
	client  *client
	logger  *slog.Logger
	changed <-chan struct{} // of the states

	mu     sync.Mutex
	status Receiver // without Undelivered
}

// run delivers until ctx is done, and then the last changes.
func (l *sendLoop) run(ctx context.Context) {
	defer l.client.close()
	ticker := time.NewTicker(reminderInterval)
	defer ticker.Stop()
	for backoff := time.Duration(0); ; {
		if l.deliver(ctx, false) {
			backoff = 0
		} else {
			backoff = min(max(2*backoff, leastBackoff), mostBackoff)
		}
		if !l.wait(ctx, backoff, ticker.C) {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	l.deliver(last, true)
}

// wait waits for the end of the backoff after a failure, otherwise for a change or the next
// round. It returns false when ctx is done.
func (l *sendLoop) wait(ctx context.Context, backoff time.Duration, round <-chan time.Time) bool {
	changed, retry := l.changed, (<-chan time.Time)(nil)
	if backoff > 0 {
		changed, round, retry = nil, nil, time.After(backoff)
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-round:
	case <-retry:
	}
	return true
}

// deliver sends all due notifications, and reports whether they were accepted.
func (l *sendLoop) deliver(ctx context.Context, onlyUrgent bool) bool {
	for {
		due := l.states.due(l.client.url, batchSize, onlyUrgent)
		if len(due) == 0 {
			return true
		}
		err := l.send(ctx, due)
		l.count(ctx, err, len(due))
		if err != nil {
			return false
		}
		l.states.delivered(l.client.url, due)
	}
}

// send posts notifications. If a batch is refused, it sends each alone, so that one bad alert
// does not block the others.
func (l *sendLoop) send(ctx context.Context, batch []notification) error {
	messages := make([]message, len(batch))
	for i, n := range batch {
		messages[i] = n.message
	}
	err := l.client.send(ctx, messages)
	if !errors.Is(err, errRejected) {
		return err
	}
	if len(batch) == 1 {
		l.mu.Lock()
		l.status.Rejected++
		l.mu.Unlock()
		l.logger.Error("The Alertmanager rejected an alert, so it does not page", "alertmanager", l.client.url, "alert", messages[0].Labels.String(), "err", err)
		return nil
	}
	for i := range batch {
		if err := l.send(ctx, batch[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// count counts a delivery, and logs when deliveries begin to fail and when they succeed again.
func (l *sendLoop) count(ctx context.Context, err error, alerts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	failed := l.status.Err != ""
	if err == nil {
		l.status.Sent++
		l.status.LastOK, l.status.Err = l.states.clock.wall(), ""
		if failed {
			l.logger.Info("The Alertmanager accepts alerts again", "alertmanager", l.client.url)
		}
		return
	}
	l.status.Failed++
	l.status.Err = err.Error()
	if !failed && ctx.Err() == nil {
		l.logger.Error("The Alertmanager does not accept alerts; trying again until it does", "alertmanager", l.client.url, "alerts", alerts, "err", err)
	}
}

func (l *sendLoop) receiver() Receiver {
	undelivered := l.states.undelivered(l.client.url)
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.status
	r.URL, r.Undelivered = l.client.url, undelivered
	return r
}
