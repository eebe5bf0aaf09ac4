package probe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/api"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// Options say what a Prober probes and how.
type Options struct {
	Target   target.Target
	Workload workload.Spec
	// User is the endpoint that writes the follow-up messages, nil for none.
	User *target.Target
	// Dial opens connections; nil means TCP with kernel receive timestamps.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Connections is the budget of open connections, of this and other probers;
	// nil for none.
	Connections *bound.Budget
	// Pacer holds the target to its share of the CPU; nil does not.
	Pacer *wire.Pacer
	// Peaks remember how near turns came to their bounds; nil for none.
	Peaks *Peaks
	// Learned is shared by the probers of a target; nil is this one's own.
	Learned *Learned
	// Lag says how late this process is; nil means never.
	Lag Lateness
	// Traced is asked at each conversation's start whether its spans will be
	// exported: only then is it in a trace of its own, and marked as sampled; nil
	// means never.
	Traced func() bool
}

// Lateness is what a lag.Monitor knows of this process.
type Lateness interface {
	// Between returns the longest time without a break, and the time in all,
	// that the process was late between two times.
	Between(from, to time.Time) (longest, lost time.Duration)
	// Lag is how late it was in the last minute.
	Lag() time.Duration
}

// Prober holds conversations with one target. It is safe for concurrent use;
// Close it when no conversation runs any more.
type Prober struct {
	opts  Options
	api   api.API
	check *regexp.Regexp
	// contract is what answers have to keep to, nil for nothing.
	contract *answers.Contract
	auth     *target.Authorizer
	shared   *wire.Client // nil with per-conversation connections
	user     *writer
	// usual is what answers are like, by the index of the kind of turn.
	usual [2]answers.Usual
	// unasked says that the model is not known for want of something of our own.
	unasked atomic.Bool
}

// New returns a Prober. It fails only for a check or a schema that does not
// compile.
func New(o Options) (*Prober, error) {
	if o.Lag == nil {
		o.Lag = (*lag.Monitor)(nil)
	}
	if o.Learned == nil {
		o.Learned = &Learned{}
	}
	if o.Target.CacheSalt == target.SaltJob {
		o.Target.Extra = salted(o.Target.Extra)
	}
	p := &Prober{opts: o, api: api.Of(o.Target.API), auth: target.NewAuthorizer(o.Target, o.Workload.Name)}
	if o.Workload.Check.Regexp != "" {
		re, err := regexp.Compile(o.Workload.Check.Regexp)
		if err != nil {
			return nil, fmt.Errorf("compiling the content check %q: %w", o.Workload.Check.Regexp, err)
		}
		p.check = re
	}
	var err error
	if p.contract, err = answers.Of(o.Workload); err != nil {
		return nil, err
	}
	if o.Target.Connection != target.PerConversation {
		p.shared = newClient(o.Target, o)
	}
	if o.User != nil {
		p.user = newWriter(o)
	}
	return p, nil
}

// Close drops the idle connections.
func (p *Prober) Close() {
	p.auth.Close()
	if p.shared != nil {
		p.shared.CloseIdleConnections()
	}
	if p.user != nil {
		p.user.close()
	}
}

// Model returns the configured model, or the first that the target lists.
func (p *Prober) Model(ctx context.Context) (string, error) {
	if p.opts.Target.Model != "" {
		return p.opts.Target.Model, nil
	}
	client := newClient(p.opts.Target, p.opts)
	defer client.CloseIdleConnections()
	begin := time.Now()
	model, err := discoverModel(ctx, p.opts.Target, p.auth, client)
	now := time.Now()
	_, lost := p.opts.Lag.Between(begin, now)
	p.unasked.Store(errors.Is(err, errNotAsked) || err != nil && much(lost, now.Sub(begin)))
	return model, err
}

// Converse takes the turns of one conversation one after the other, hands each
// to the sink and returns how the conversation ended. A failed turn ends it.
// Closing plan.Stop lets the turn in flight finish; canceling ctx cuts it.
func (p *Prober) Converse(ctx context.Context, plan Plan, sink Sink) Conversation {
	client := p.shared
	if client == nil {
		client = newClient(p.opts.Target, p.opts)
		defer client.CloseIdleConnections()
	}
	if p.api.Stream().Document { // a single shot has nothing to go on from
		plan.Conversation.Turns = 1
	}
	d := newDialogue(p, plan, client)
	for n := 1; ; n++ {
		if d.added > maxAdded {
			d.sum.Shortened = true
			break
		}
		p.opts.Peaks.added(d.added)
		due, ok := d.prepare(ctx)
		if !ok {
			d.sum.Outcome = Canceled
			break
		}
		r := d.turn(ctx, n, due, sink)
		d.sum.Turns, d.sum.Outcome, d.sum.End = n, r.Outcome, r.End
		if r.Outcome != Success {
			break
		}
		d.compare(ctx, &r, sink)
		if !d.goOn(r) {
			break
		}
	}
	return d.sum
}

// accept applies the content check to a successful answer.
func (p *Prober) accept(answer string) error {
	c := p.opts.Workload.Check
	if c.Contains != "" && !strings.Contains(answer, c.Contains) {
		return fmt.Errorf("the answer does not contain %q", c.Contains)
	}
	if p.check != nil && !p.check.MatchString(answer) {
		return fmt.Errorf("the answer does not match %q", c.Regexp)
	}
	return nil
}

// newClient returns a client that keeps connections as the target wants it.
func newClient(t target.Target, o Options) *wire.Client {
	return wire.New(wire.Options{HTTP: t.HTTP, Dial: o.Dial, Connections: o.Connections, Pacer: o.Pacer})
}

// request builds one turn's request. A key that cannot be read is an error
// that has the key's place, not its content.
func (p *Prober) request(ctx context.Context, turn api.Turn, extra map[string]any, traceparent string) (*http.Request, scrubber, error) {
	t := p.opts.Target
	t.Extra = extra
	header, err := p.auth.Header(ctx)
	if err != nil {
		return nil, nil, err
	}
	scrub := newScrubber(header)
	turn.Target = t
	body, err := p.api.Request(turn)
	if err != nil {
		return nil, nil, err
	}
	req, err := newRequest(ctx, t.BaseURL, header, traceparent, body)
	return req, scrub, err
}

// salted returns the fields of a body with a salt that nobody else has.
func salted(extra map[string]any) map[string]any {
	out := map[string]any{"cache_salt": rand.Text()}
	maps.Copy(out, extra)
	return out
}

// newRequest builds the POST of one turn, with the headers that the target
// wants.
func newRequest(ctx context.Context, base string, header http.Header, traceparent string, r api.Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("building the request: %w", err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", cmp.Or(r.Accept, "text/event-stream"))
	req.Header.Set("Traceparent", traceparent)
	return req, nil
}
