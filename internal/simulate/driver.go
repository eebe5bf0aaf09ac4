package simulate

import (
	"context"
	"fmt"
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
	timer  *time.Timer   // of who drives

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

// newDriver returns a driver of an idle cluster at the clock's time at.
func newDriver(config cluster.Config, clock clock, model string) (*driver, error) {
	c, err := cluster.New(config)
	if err != nil {
		return nil, err
	}
	d := &driver{
		config: config, clock: clock, cluster: c,
		lead: make(chan struct{}, 1), poke: make(chan struct{}, 1),
		timer: time.NewTimer(time.Hour), calls: make(map[uint64]*call),
		tally: newTally(config, model),
	}
	d.timer.Stop()
	d.lead <- struct{}{}
	return d, nil
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
	select {
	case c.wake <- struct{}{}:
	default: // it is told already
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
	d.tally.began()
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
	d.nudge()
	var events []cluster.Event
	for {
		if err := d.wait(ctx, c); err != nil {
			d.cancel(id)
			return err
		}
		events = d.take(c, events)
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

// take empties a call's box into a used slice.
func (d *driver) take(c *call, used []cluster.Event) []cluster.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	used = append(used[:0], c.box...)
	c.box = c.box[:0]
	return used
}

// cancel gives up a request, which may have ended.
func (d *driver) cancel(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	d.cluster.Cancel(id)
	d.catchUp()
	d.nudge()
}

// nudge lets who drives look again.
func (d *driver) nudge() {
	select {
	case d.poke <- struct{}{}:
	default:
	}
}

// wait returns nil when a call has an event, or why ctx has ended.
func (d *driver) wait(ctx context.Context, c *call) error {
	select {
	case <-c.wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.lead:
		defer func() { d.lead <- struct{}{} }()
		return d.drive(ctx, c)
	}
}

// drive moves the cluster until a call has an event.
func (d *driver) drive(ctx context.Context, c *call) error {
	for {
		soon := d.step()
		select {
		case <-c.wake:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-soon:
		case <-d.poke:
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
	d.timer.Reset(d.clock.until(at))
	return d.timer.C
}
