package simulate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// serving returns the options in force, defaults filled in, and the driver of
// the cluster that serves now: nil without one.
func (d *Deployment) serving() (Options, *driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.options.withDefaults()
	if o.Cluster == nil {
		return o, nil
	}
	d.roll(o)
	o.MaxModelLen = min(o.MaxModelLen, d.driver.cluster.MaxTokens())
	return o, d.driver
}

// roll starts the cluster whose turn it is, unless it runs. Hold mu.
func (d *Deployment) roll(o Options) {
	want, born := o.Cluster, time.Duration(0)
	elapsed := clock{start: d.began, speed: o.Speed}.now()
	for i := range o.Rollouts {
		if r := &o.Rollouts[i]; r.At <= elapsed {
			want, born = &r.Cluster, r.At
		}
	}
	if want == d.runs {
		return
	}
	if d.driver != nil {
		d.driver.mu.Lock()
		d.driver.catchUp()
		d.driver.load.stopped = true
		d.driver.mu.Unlock()
	}
	d.driver, d.runs = o.start(*want, d.began, born), want
}

// start returns a driver of a cluster that is born some time after the
// deployment's start. It panics on options that Validate refuses.
func (o Options) start(config cluster.Config, began time.Time, born time.Duration) *driver {
	warm := o.Load.WarmUp
	if born > 0 || o.Load.Concurrency == 0 {
		warm = 0
	}
	config.Seed ^= o.Seed
	config.Faults = slices.Concat(config.Faults, o.clusterFaults(born, warm))
	c, err := cluster.New(config)
	if err != nil {
		panic(fmt.Sprintf("simulate: %v", err))
	}
	birth := began.Add(time.Duration(float64(born) / o.Speed))
	d := &driver{
		config: config, clock: clock{start: birth, at: warm, speed: o.Speed}, cluster: c,
		lead: make(chan struct{}, 1), poke: make(chan struct{}, 1),
		calls: make(map[uint64]*call), tally: newTally(config, o.Model),
	}
	d.lead <- struct{}{}
	o.Load.begin(d, o.Seed)
	c.Advance(warm, d.handle)
	return d
}

// Run keeps a deployment with a Load at the clock until ctx is done. Nothing
// depends on it but the time that the first request after a long silence has
// to wait for the cluster to catch up.
func (d *Deployment) Run(ctx context.Context) {
	for tick := time.Tick(time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if _, driver := d.serving(); driver != nil {
			driver.mu.Lock()
			driver.catchUp()
			driver.mu.Unlock()
		}
	}
}

// share lets the cluster produce the answer, beside those of all others.
func (d *Deployment) share(ctx context.Context, t *turn, out *responder) error {
	// The cluster caches the answer as it grows, so it has to know its blocks
	// before. What comes back as history has the same ones.
	t.prompt.text(t.text.peek(t.output))
	work := cluster.Request{Prompt: t.promptTokens, Output: t.output, Chain: t.prompt.blocks, Rank: t.prompt.hash}
	send := d.sender(ctx, t, out)
	return t.driver.serve(ctx, work, t.finish, func(e cluster.Event) error {
		if e.Kind != cluster.Tokens {
			return t.ended(e)
		}
		if t.sent == 0 {
			d.looked(t, e.Cached)
		}
		return send(e.Tokens)
	})
}

// ended says how a request's last event looks to its client.
func (t *turn) ended(e cluster.Event) error {
	switch e.Kind {
	case cluster.Done:
		return nil
	case cluster.Refused:
		return queueFull()
	case cluster.Unavailable:
		return failure(http.StatusServiceUnavailable, "service_unavailable", "There is no worker for this request; try again later.")
	case cluster.Expired:
		return failure(http.StatusGatewayTimeout, "timeout_error", "The request was not complete within %v.", t.driver.config.Frontend.Deadline)
	}
	if t.sent > 0 {
		return errCut // a lost worker says no more
	}
	return engineFailed()
}
