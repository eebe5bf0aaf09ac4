package simulate

import (
	"context"
	"net/http"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// current returns the current options, with defaults.
func (d *Deployment) current() Options {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.options.withDefaults()
	if d.driver != nil {
		o.MaxModelLen = min(o.MaxModelLen, d.driver.cluster.MaxTokens())
	}
	return o
}

// start returns the driver of a cluster that starts with the deployment.
func (o Options) start(config cluster.Config, began time.Time) *driver {
	config.Seed ^= o.Seed
	config.Faults = slices.Concat(config.Faults, o.clusterFaults(o.Load.WarmUp))
	c := cluster.New(config)
	d := &driver{
		config: config, model: o.Model, clock: clock{start: began, at: o.Load.WarmUp, speed: o.Speed}, cluster: c,
		lead: make(chan struct{}, 1), wakeLeader: make(chan struct{}, 1),
		calls: make(map[uint64]*call), latency: newHistograms(),
	}
	d.lead <- struct{}{}
	o.Load.begin(d, o.Seed)
	c.Advance(o.Load.WarmUp, d.handle)
	return d
}

// Run advances the cluster every second until ctx ends. Without it, the first request after a long
// silence waits until the cluster has computed that time. It changes no result.
func (d *Deployment) Run(ctx context.Context) {
	for tick := time.Tick(time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if d.driver != nil {
			d.driver.mu.Lock()
			d.driver.catchUp()
			d.driver.mu.Unlock()
		}
	}
}

// generateOnCluster generates the answer on the cluster.
func (d *Deployment) generateOnCluster(ctx context.Context, t *turn, out *responder) error {
	// The cluster caches the answer while it grows, so it needs the hashes of the answer's blocks in
	// advance. The answer has the same hashes when it comes back as history.
	t.prompt.addText(t.text.peek(t.output))
	work := cluster.Request{Prompt: t.promptTokens, Output: t.output, Chain: t.prompt.blocks, Rank: t.prompt.hash}
	send := d.sender(ctx, t, out)
	return t.driver.serve(ctx, work, func(e cluster.Event) error {
		if e.Kind != cluster.Tokens {
			return t.endError(e.Kind)
		}
		if t.sent == 0 {
			d.countPrompt(t, e.Cached)
		}
		return send(e.Tokens)
	})
}

// endError returns the error that the client gets for the last event of its request.
func (t *turn) endError(kind cluster.Kind) error {
	switch kind {
	case cluster.Done:
		return nil
	case cluster.Unavailable:
		return newError(http.StatusServiceUnavailable, "service_unavailable", "There is no worker for this request; try again later.")
	case cluster.Expired:
		return newError(http.StatusGatewayTimeout, "timeout_error", "The request was not complete within %v.", t.driver.config.Frontend.Deadline)
	}
	if t.sent > 0 {
		return errCut // a lost worker sends nothing more
	}
	return engineFailed()
}
