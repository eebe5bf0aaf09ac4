package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"sync/atomic"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// Options configure a Prober.
type Options struct {
	Target   target.Target
	Workload workload.Spec
	// Dial opens connections; nil means TCP with kernel receive timestamps.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Connections limits the open connections of all probers that share it; nil means no limit.
	Connections *bound.Budget
	// Peaks records how close turns came to their limits; nil means no record.
	Peaks *Peaks
	// Learned is shared by the probers of a target; nil means that it is not shared.
	Learned *Learned
	// Lag says how late this process is; nil means never.
	Lag Lateness
	// Traced is called at the start of each conversation. It reports whether the spans of the
	// conversation will be exported; nil means never.
	Traced func() bool
	// Sent counts the requests that are not turns; nil counts nothing.
	Sent func(Purpose)
}

// Lateness says how late this process was. lag.Monitor implements it.
type Lateness interface {
	// Between returns the longest interruption between two times, and their sum.
	Between(from, to time.Time) (longest, lost time.Duration)
}

// Prober runs conversations with one target. It is safe for concurrent use. The caller must
// Close it after the last conversation.
type Prober struct {
	opts        Options
	api         *dialect.API
	checkRegexp *regexp.Regexp
	contract    *answers.Contract
	auth        *target.Authorizer
	shared      *wire.Client // nil if each conversation has its own connection
	// lookupFailedHere is true if the last failed lookup of the model failed by a fault of the prober.
	// A successful one does not reset it, because conversations that began without a model still read it.
	lookupFailedHere atomic.Bool
	promptSizes      promptSizes
}

// New returns a Prober. It returns an error only for an invalid regular expression or schema.
func New(o Options) (*Prober, error) {
	if o.Lag == nil {
		o.Lag = (*lag.Monitor)(nil)
	}
	o.Peaks, o.Learned = cmp.Or(o.Peaks, &Peaks{}), cmp.Or(o.Learned, &Learned{})
	if o.Target.CacheSalt == target.SaltJob {
		o.Target.Extra = withSalt(o.Target.Extra)
	}
	p := &Prober{opts: o, api: dialect.Of(o.Target.API), auth: target.NewAuthorizer(o.Target, o.Workload.Name)}
	var err error
	if expr := o.Workload.Check; expr != "" {
		if p.checkRegexp, err = regexp.Compile(expr); err != nil {
			return nil, fmt.Errorf("compiling the content check %q: %w", expr, err)
		}
	}
	if p.contract, err = answers.NewContract(o.Workload); err != nil {
		return nil, err
	}
	if o.Target.Connection != target.PerConversation {
		p.shared = newClient(&p.opts.Target, &p.opts)
	}
	return p, nil
}

// Close closes idle connections.
func (p *Prober) Close() {
	p.auth.Close()
	if p.shared != nil {
		p.shared.CloseIdleConnections()
	}
}

// Model returns the configured model, or the first one that the target lists.
func (p *Prober) Model(ctx context.Context) (string, error) {
	if p.opts.Target.Model != "" {
		return p.opts.Target.Model, nil
	}
	begin := time.Now()
	model, err := p.opts.discoverModel(ctx, p.auth)
	if err != nil {
		longest, _ := p.opts.Lag.Between(begin, time.Now())
		p.lookupFailedHere.Store(errors.Is(err, errOwnFault) || longest >= lateAtOnce)
	}
	return model, err
}

// Converse runs the turns of one conversation, passes each to the sink and returns how the
// conversation ended. A failed turn ends it. After plan.Stop is closed it starts no further
// turn; when ctx is done it cuts the turn in flight.
func (p *Prober) Converse(ctx context.Context, plan Plan, sink Sink) Conversation {
	client := p.shared
	if client == nil {
		client = newClient(&p.opts.Target, &p.opts)
		defer client.CloseIdleConnections()
	}
	d := newDialogue(p, &plan, client)
	for n := 1; d.advance(ctx, n, sink); n++ {
	}
	return d.result
}

func newClient(t *target.Target, o *Options) *wire.Client {
	return wire.New(wire.Options{HTTP: t.HTTP, Dial: o.Dial, Connections: o.Connections})
}

// withSalt adds a random cache salt to the fields of a body.
func withSalt(extra map[string]any) map[string]any {
	out := map[string]any{"cache_salt": rand.Text()}
	maps.Copy(out, extra)
	return out
}
