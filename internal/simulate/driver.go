package simulate

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"synthetic/internal/simulate/cluster"
)

// instant passes between the arrival of a request and its start: all that
// arrive at one moment of virtual time then start together, in the order of
// their ranks and not of the goroutines that brought them.
const instant = time.Nanosecond

// driver lets the requests of a deployment share one cluster. It has no
// goroutine of its own: of the requests that wait, whichever holds the one
// token of lead moves the cluster's time, sleeps until something happens next,
// and hands the token on when it has an event itself. When nobody waits,
// nothing moves; the next call catches up, so nobody can tell.
type driver struct {
	config cluster.Config
	clock  clock
	lead   chan struct{} // its token is held by who drives
	poke   chan struct{} // wakes who drives: the next event may come earlier

	mu      sync.Mutex
	cluster *cluster.Cluster
	calls   map[uint64]*call
	ids     uint64
	load    *load
	tally   *tally
}

// call is a request at the cluster.
type call struct {
	prompt int
	finish string // why its answer will end
	// Times of the cluster.
	sent, first, last time.Duration
	output, burst     int // tokens so far, those of the first event

	// Of requests over HTTP: what they have not taken yet.
	box  []cluster.Event
	wake chan struct{}
	// Of the load.
	conversation *conversation
}

// catchUp moves the cluster to the clock's time. Hold mu.
func (d *driver) catchUp() { d.cluster.Advance(d.clock.now(), d.handle) }

// handle takes an event of the cluster.
func (d *driver) handle(e cluster.Event) {
	c := d.calls[e.ID]
	if c == nil {
		return
	}
	d.tally.observe(c, e)
	if e.Kind != cluster.Tokens {
		delete(d.calls, e.ID)
	}
	if c.conversation != nil {
		d.load.handle(c.conversation, e)
		return
	}
	c.box = append(c.box, e)
	signal(c.wake)
}

// signal wakes who waits for it, unless that was told already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// submit sends a request to the cluster at a time, now or later. Hold mu.
func (d *driver) submit(at time.Duration, r cluster.Request, c *call) error {
	d.ids++
	r.ID = d.ids
	c.prompt, c.sent = r.Prompt, at
	if err := d.cluster.Submit(at, r); err != nil {
		return err
	}
	d.calls[r.ID] = c
	d.tally.front.inFlight++
	d.tally.front.queued++
	return nil
}

// serve sends a request to the cluster and hands each of its events to emit,
// the last one included. It returns early, and gives the request up, when ctx
// ends or emit fails.
func (d *driver) serve(ctx context.Context, r cluster.Request, finish string, emit func(cluster.Event) error) error {
	c := &call{finish: finish, wake: make(chan struct{}, 1)}
	d.mu.Lock()
	d.catchUp()
	err := d.submit(d.clock.now()+instant, r, c)
	id := d.ids
	d.mu.Unlock()
	if err != nil {
		return fmt.Errorf("handing a request to the simulated cluster: %w", err)
	}
	signal(d.poke)
	var events []cluster.Event
	for {
		if err := d.wait(ctx, c); err != nil {
			d.cancel(id)
			return err
		}
		d.mu.Lock()
		events, c.box = c.box, events[:0]
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

// cancel gives up a request, which may have ended.
func (d *driver) cancel(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	d.cluster.Cancel(id)
	d.catchUp()
	signal(d.poke)
}

// wait returns nil when a call has an event, or why ctx has ended. Meanwhile it
// moves the cluster, if nobody else does.
func (d *driver) wait(ctx context.Context, c *call) error {
	lead := d.lead
	var poke chan struct{}
	for {
		var soon <-chan time.Time
		if lead == nil {
			soon = d.step()
		}
		select {
		case <-c.wake:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-lead:
			lead, poke = nil, d.poke
			defer signal(d.lead)
		case <-soon:
		case <-poke:
		}
	}
}

// step catches up and returns what fires when the next event is due: nil,
// which is never, when none is.
func (d *driver) step() <-chan time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	at, ok := d.cluster.Next()
	if !ok {
		return nil
	}
	return time.After(d.clock.until(at))
}

// clock maps the time of the world to that of a cluster. Under testing/synctest
// the world's time is the bubble's.
type clock struct {
	start time.Time     // in the world
	at    time.Duration // on the cluster, at the start
	speed float64       // cluster seconds per second of the world
}

// now is the cluster's time.
func (c clock) now() time.Duration {
	elapsed := time.Since(c.start)
	if c.speed != 1 { // without the rounding of floats: exact to the nanosecond
		elapsed = time.Duration(float64(elapsed) * c.speed)
	}
	return c.at + elapsed
}

// until is how long the world has to wait for a time of the cluster; never
// too short, for a wait that ends early would have to be repeated.
func (c clock) until(at time.Duration) time.Duration {
	left := at - c.now()
	if c.speed != 1 {
		left = time.Duration(math.Ceil(float64(left) / c.speed))
	}
	return max(left, 0)
}
