package simulate

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"synthetic/internal/simulate/cluster"
)

// instant is the time between the arrival of a request and its start. Requests that arrive at the
// same virtual time therefore start together, ordered by rank. The order in which their goroutines ran
// has no influence.
const instant = time.Nanosecond

// driver lets the requests of a deployment share a cluster. It has no goroutine. One of the waiting
// requests holds the token of lead: it advances the cluster, sleeps until the next event, and passes
// the token on when it has an event of its own. If no request waits, nothing advances, and the next
// call catches up, with the same results.
type driver struct {
	config     cluster.Config
	model      string
	clock      clock
	lead       chan struct{} // holds one token
	wakeLeader chan struct{} // the next event may be earlier than expected

	mu      sync.Mutex
	cluster *cluster.Cluster
	calls   map[uint64]*call
	ids     uint64
	load    *load
	latency histograms // of the workers
}

type call struct {
	last time.Duration // cluster time of the latest token event; 0 before the first

	// Requests over HTTP: events that were not handled yet.
	events []cluster.Event
	wake   chan struct{}
	// Requests of the load.
	conversation *conversation
}

// catchUp advances the cluster to the time of the clock. The caller holds mu.
func (d *driver) catchUp() { d.cluster.Advance(d.clock.now(), d.handle) }

func (d *driver) handle(e cluster.Event) {
	c := d.calls[e.ID]
	if c == nil {
		return
	}
	if e.Kind == cluster.Tokens {
		d.observe(c, e)
	} else {
		delete(d.calls, e.ID)
	}
	if c.conversation != nil {
		d.load.handle(c.conversation, e)
		return
	}
	c.events = append(c.events, e)
	signal(c.wake)
}

// observe counts a token event. The time to the first token excludes the delays of frontend and network.
func (d *driver) observe(c *call, e cluster.Event) {
	isFirst, taken := c.last == 0, e.At-c.last
	if isFirst {
		taken = e.AtWorker
	}
	d.latency.observe(d.model, strconv.Itoa(e.Worker), isFirst, taken.Seconds())
	c.last = e.At
}

// signal sends to a channel with a buffer of one, unless the buffer is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// submit sends a request to the cluster at a time, now or later. The caller holds mu.
func (d *driver) submit(at time.Duration, r cluster.Request, c *call) error {
	d.ids++
	r.ID = d.ids
	if err := d.cluster.Submit(at, r); err != nil {
		return err
	}
	d.calls[r.ID] = c
	return nil
}

// serve sends a request to the cluster and calls emit for each of its events, including the last. If
// ctx ends or emit fails, it cancels the request and returns the error.
func (d *driver) serve(ctx context.Context, r cluster.Request, emit func(cluster.Event) error) error {
	c := &call{wake: make(chan struct{}, 1)}
	d.mu.Lock()
	d.catchUp()
	err := d.submit(d.clock.now()+instant, r, c)
	id := d.ids
	d.mu.Unlock()
	if err != nil {
		return fmt.Errorf("sending a request to the simulated cluster: %w", err)
	}
	signal(d.wakeLeader)
	var events []cluster.Event
	for {
		if err := d.wait(ctx, c); err != nil {
			d.cancel(id)
			return err
		}
		d.mu.Lock()
		events, c.events = c.events, events[:0]
		d.mu.Unlock()
		for _, e := range events {
			if err := emit(e); err != nil {
				d.cancel(id)
				return err
			}
			if e.Kind != cluster.Tokens {
				return nil
			}
		}
	}
}

// cancel cancels a request. It may already have ended.
func (d *driver) cancel(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	d.cluster.Cancel(id)
	d.catchUp()
	signal(d.wakeLeader)
}

// wait returns nil when the call has an event, or the error of ctx. While no other request does, it
// advances the cluster.
func (d *driver) wait(ctx context.Context, c *call) error {
	lead := d.lead
	var wakeLeader chan struct{}
	for {
		var next <-chan time.Time
		if lead == nil {
			next = d.advance()
		}
		select {
		case <-c.wake:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-lead:
			lead, wakeLeader = nil, d.wakeLeader
			defer signal(d.lead)
		case <-next:
		case <-wakeLeader:
		}
	}
}

// advance catches up and returns a timer for the next event, nil without a next event.
func (d *driver) advance() <-chan time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	at, ok := d.cluster.Next()
	if !ok {
		return nil
	}
	return time.After(d.clock.until(at))
}

// clock converts wall time to the time of a cluster. Under testing/synctest, wall time is that of
// the bubble.
type clock struct {
	start time.Time
	at    time.Duration // cluster time at start
	speed float64       // cluster seconds per second
}

func (c clock) now() time.Duration {
	elapsed := time.Since(c.start)
	if c.speed != 1 { // without the rounding of floats: exact to the nanosecond
		elapsed = time.Duration(float64(elapsed) * c.speed)
	}
	return c.at + elapsed
}

// until returns the wall time until a time of the cluster. It rounds up, because a wait that ends too
// early would have to be repeated.
func (c clock) until(at time.Duration) time.Duration {
	left := at - c.now()
	if c.speed != 1 {
		left = time.Duration(math.Ceil(float64(left) / c.speed))
	}
	return max(left, 0)
}
