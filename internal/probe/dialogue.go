package probe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/api"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// dialogue is one conversation while it is held.
type dialogue struct {
	p       *Prober
	plan    Plan
	client  *wire.Client
	extra   map[string]any // fields of each body
	history []workload.Message
	added   int // bytes of it, by the target and the user endpoint
	lastEnd time.Time
	// asked counts the user's messages. calls are those of the last answer, whose
	// results are due; rounds is how many answers in a row have called.
	asked, rounds int
	calls         []workload.ToolCall
	// lag is the largest of the turns so far.
	lag time.Duration
	// drained is how long the last turn's body took to end after its answer.
	drained time.Duration
	sum     Conversation
}

func newDialogue(p *Prober, plan Plan, client *wire.Client) *dialogue {
	if plan.ID == "" {
		plan.ID = newConversationID()
	}
	d := &dialogue{
		p: p, plan: plan, client: client, extra: p.opts.Target.Extra,
		history: append([]workload.Message(nil), plan.Conversation.Opening...),
		sum: Conversation{
			Target: p.opts.Target.Name, Workload: p.opts.Workload.Name, ID: plan.ID,
			Scheduled: plan.Scheduled, End: plan.Scheduled,
		},
	}
	if p.opts.Traced != nil && p.opts.Traced() {
		d.sum.TraceID, d.sum.SpanID = newID(16), newID(8)
	}
	if p.opts.Target.CacheSalt == target.SaltConversation {
		d.extra = salted(d.extra)
	}
	return d
}

// prepare adds to the history what the next turn is about: the results of calls,
// or the user's next message, of which the first is there already. It returns when
// the turn is due, and false if the conversation is to stop here.
func (d *dialogue) prepare(ctx context.Context) (time.Time, bool) {
	if len(d.calls) > 0 {
		d.answerCalls()
		due := d.lastEnd.Add(d.drained)
		return due, d.pause(ctx, time.Until(due))
	}
	d.asked++
	if d.asked == 1 {
		return d.plan.Scheduled, true
	}
	return d.ask(ctx, d.asked)
}

// ask thinks, then adds the user's message n (from 2). It returns when the turn
// is due, and false if the conversation is to stop here.
func (d *dialogue) ask(ctx context.Context, n int) (time.Time, bool) {
	due := d.lastEnd
	think := d.drained // a connection that is not free yet is no lateness of ours
	if i := n - 2; i < len(d.plan.Conversation.Think) {
		think = max(think, d.plan.Conversation.Think[i])
	}
	due = due.Add(think)
	text, late, ok := d.question(ctx, n)
	if !ok || !d.pause(ctx, time.Until(due)) {
		return due, false
	}
	if late.After(due) {
		due = late // the user endpoint took longer than the think time
	}
	d.history = append(d.history, workload.Message{Role: "user", Content: text})
	return due, true
}

// question returns the user's message n, and when a user endpoint
// delivered it (zero if planned). A user endpoint that fails is replaced by
// the planned message, and counted: it is not the target's fault.
func (d *dialogue) question(ctx context.Context, n int) (text string, at time.Time, ok bool) {
	if d.p.user != nil {
		text, err := d.consult(ctx)
		if err == nil {
			d.added += len(text)
			return text, time.Now(), true
		}
		if ctx.Err() != nil || d.stopped() {
			return "", time.Time{}, false
		}
		d.sum.UserErrors++
		at = time.Now()
	}
	if i := n - 2; i < len(d.plan.Conversation.Followups) {
		return d.plan.Conversation.Followups[i], at, true
	}
	return "Please go on.", at, true
}

// consult asks the user endpoint for the next message.
func (d *dialogue) consult(ctx context.Context) (text string, err error) {
	err = d.stoppable(ctx, func(ctx context.Context) (err error) {
		text, err = d.p.user.next(ctx, d.history)
		return err
	})
	return text, err
}

// stoppable does something until the conversation is to stop: no turn is in flight
// meanwhile.
func (d *dialogue) stoppable(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		select {
		case <-d.plan.Stop:
			cancel()
		case <-ctx.Done():
		}
	})
	return do(ctx)
}

// stopped reports whether no further turn is to start.
func (d *dialogue) stopped() bool {
	select {
	case <-d.plan.Stop:
		return true
	default:
		return false
	}
}

// pause waits and reports false if the conversation is to stop.
func (d *dialogue) pause(ctx context.Context, wait time.Duration) bool {
	if d.stopped() {
		return false
	}
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.plan.Stop:
	case <-ctx.Done():
	}
	return false
}

// turn takes one turn and reports it to the sink.
func (d *dialogue) turn(ctx context.Context, n int, due time.Time, sink Sink) Result {
	kind := First
	if n > 1 {
		kind = Followup
	}
	r := Result{
		Target: d.sum.Target, Workload: d.sum.Workload, Model: d.plan.Model,
		Conversation: d.plan.ID, Turn: n, Kind: kind, Scheduled: due, Burst: d.plan.Burst,
	}
	sink.Observe(Start{Target: r.Target, Workload: r.Workload, Kind: kind})
	d.measure(ctx, &r, sink)
	d.lastEnd = r.End
	sink.Observe(r)
	return r
}

// measure sends one request and fills the result. A request that is refused for
// the name of a field is repeated with the other, and only that is measured.
func (d *dialogue) measure(ctx context.Context, r *Result, sink Sink) {
	limit := d.p.limitField()
	a, err := d.send(ctx, r, limit)
	if err == nil {
		again, first := d.learn(a, limit)
		if first {
			sink.Observe(LimitLearned{Target: r.Target, Workload: r.Workload})
		}
		if again {
			r.Scheduled = a.end
			a, err = d.send(ctx, r, d.p.limitField())
		}
	}
	if err != nil {
		r.Sent, r.Lag = time.Now(), max(d.lag, d.p.opts.Lag.Lag())
		r.End, r.Outcome, r.Err = r.Sent, NotSent, err.Error()
		if ctx.Err() != nil {
			r.Outcome, r.Err = Canceled, "canceled by the prober's own shutdown"
		}
		return
	}
	a.report(r)
	r.Worker = a.worker(d.p.opts.Target.Worker)
	a.lateness(r)
	unbuffer(r)
	d.lag = max(d.lag, r.Lag)
	r.Lag = d.lag
	d.drained = a.drained
	if r.Outcome == Success {
		if r.Answer != "" {
			r.Odd = d.p.usual[r.Kind.Index()].Judge(answers.GarbleOf(r.Answer), r.OutputTokens.V)
		}
		if t := d.p.opts.Target; !sameModel(&t, r.Model, a.seen.model) {
			r.Odd, r.AnsweredBy = answers.Model, a.scrub.hide(a.seen.model)
		}
		d.judge(r, a.scrub)
	}
}

// send sends one request and follows its answer.
func (d *dialogue) send(ctx context.Context, r *Result, limit target.LimitField) (*attempt, error) {
	req, scrub, err := d.request(ctx, limit, d.trace(r))
	if err != nil {
		return nil, errors.New("nothing was sent: " + scrub.clean(err.Error()))
	}
	most := amountsOf(d.spec().MaxOutputTokens, int(req.ContentLength))
	a := &attempt{client: d.client, how: d.p.api.Stream(), scrub: scrub, most: most, peaks: d.p.opts.Peaks, lag: d.p.opts.Lag}
	a.run(req, d.limits)
	return a, nil
}

// goOn adds an answer to the history, and reports false if the conversation ends
// with it.
func (d *dialogue) goOn(r Result) bool {
	if d.called(r) {
		return true
	}
	if d.asked == d.plan.Conversation.Turns {
		return false
	}
	d.sum.Shortened = !d.remember(r)
	return !d.sum.Shortened
}

// remember adds an answer to the history, as the chat templates of models and
// strict servers expect it, and reports false if there is nothing to add: a
// message without content is refused. Tool calls without their results are, too,
// so that they are left out.
func (d *dialogue) remember(r Result) bool {
	m := workload.Message{Role: "assistant", Content: r.Answer}
	if r.NoAnswer {
		m.Content = cmp.Or(r.Refusal, d.p.opts.Workload.Placeholder)
	}
	if m.Content == "" {
		return false
	}
	d.echo(&m, r)
	d.history = append(d.history, m)
	d.added += m.Size()
	return true
}

// echo adds what was thought to a message, where the model wants that back.
func (d *dialogue) echo(m *workload.Message, r Result) {
	if d.p.opts.Workload.Reasoning == workload.Echo {
		m.Reasoning, m.ReasoningField = r.Reasoning, r.ReasoningField
	}
}

// errNoMemory is why a turn is not sent whose conversation has grown too large.
var errNoMemory = errors.New("the prober has no memory left for the conversation")

// errNameless is why a turn is not sent that would ask for no model: the answer
// would be a refusal.
var errNameless = errors.New("the model is not known yet: the prober could not ask for it")

// request builds the request of a turn, if there is room for it.
func (d *dialogue) request(ctx context.Context, limit target.LimitField, traceparent string) (*http.Request, scrubber, error) {
	if !d.plan.Room.Grow(Cost(d.spec(), d.history)) {
		return nil, nil, errNoMemory
	}
	if d.plan.Model == "" && d.p.unasked.Load() {
		return nil, nil, errNameless
	}
	return d.p.request(ctx, api.Turn{Model: d.plan.Model, Spec: d.spec(), History: d.history, Limit: limit}, d.extra, traceparent)
}

// spec is the workload, with the limit of the answer that is due.
func (d *dialogue) spec() workload.Spec {
	spec := d.p.opts.Workload
	if i := d.asked - 1; i < len(d.plan.Conversation.Outputs) && d.plan.Conversation.Outputs[i] > 0 {
		spec.MaxOutputTokens = d.plan.Conversation.Outputs[i]
	}
	return spec
}

// limits returns the deadlines of a turn sent at a time.
func (d *dialogue) limits(sent time.Time) deadlines {
	limits := newDeadlines(sent, d.p.opts.Workload.Timeouts)
	if i := d.asked - 1; i < len(d.plan.Conversation.Patience) && d.plan.Conversation.Patience[i] > 0 {
		limits.leave = sent.Add(d.plan.Conversation.Patience[i])
	}
	return limits
}

// report writes what the attempt saw into the result.
func (a *attempt) report(r *Result) {
	r.Sent, r.End = a.seen.sent, a.end
	r.Outcome, r.Status, r.Err = a.outcome, a.status, a.err
	r.Phases = phases(a.trace, a.seen.sent)
	a.seen.fill(r)
	r.FinishReason = a.scrub.hide(r.FinishReason)
}

func phases(t wire.Trace, sent time.Time) Phases {
	p := Phases{Reused: t.Reused}
	step := func(d time.Duration) Opt[time.Duration] { return Opt[time.Duration]{V: d, OK: d > 0} }
	p.DNS, p.Connect, p.TLS = step(t.DNS), step(t.Connect), step(t.TLS)
	if !t.Headers.IsZero() {
		p.Headers = Some(t.Headers.Sub(sent))
	}
	return p
}
