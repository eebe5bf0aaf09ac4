package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

// dialogue is one conversation in progress.
type dialogue struct {
	prober  *Prober
	plan    Plan
	client  *wire.Client
	extra   map[string]any // additional fields of each request body
	history history
	last    leftover
	// userMessages counts the user's messages. calls are the tool calls of the last answer,
	// whose results are not sent yet. toolRounds counts consecutive answers with tool calls.
	userMessages, toolRounds int
	calls                    []workload.ToolCall
	// foreign are the codes of other conversations that answers brought into the history. The model may
	// repeat them, so only the first time counts.
	foreign []recall.Code
	session session
	result  Conversation
}

// leftover is what the last turn left for the next one.
type leftover struct {
	end time.Time
	// drained is how long the body took to end after the answer.
	drained time.Duration
	// context and prompt are the next turn's ContextTokens and PreviousPrompt.
	context Opt[int]
	prompt  int
}

// history is the texts that each request repeats.
type history struct {
	messages []workload.Message
	added    int // bytes that the target wrote
	echoed   int // tokens of reasoning, at most
}

// add adds a message that the target wrote or asked for.
func (h *history) add(m workload.Message) {
	h.messages = append(h.messages, m)
	h.added += m.Size()
}

// find returns the length in bytes of the contents, and of those before a text; -1 if no content has it.
func (h *history) find(text string) (before, size int) {
	before = -1
	for i := range h.messages {
		content := h.messages[i].Content
		if at := strings.Index(content, text); at >= 0 && before < 0 {
			before = size + at
		}
		size += len(content)
	}
	return before, size
}

func newDialogue(p *Prober, plan *Plan, client *wire.Client) *dialogue {
	plan.ID = cmp.Or(plan.ID, strconv.FormatUint(rand.Uint64(), 36))
	d := &dialogue{
		prober: p, plan: *plan, client: client, extra: p.opts.Target.Extra,
		history: history{messages: slices.Clone(plan.Conversation.Opening)},
		result: Conversation{
			Target: p.opts.Target.Name, Workload: p.opts.Workload.Name, ID: plan.ID,
			TraceID: newSpanID() + newSpanID(), Scheduled: plan.Scheduled, End: plan.Scheduled,
		},
	}
	d.session = session{target: &p.opts.Target, id: d.result.TraceID}
	if p.opts.Traced != nil && p.opts.Traced() {
		d.result.SpanID = newSpanID()
	}
	if p.opts.Target.CacheSalt == target.SaltConversation {
		d.extra = withSalt(d.extra)
	}
	return d
}

// prepare adds the content of the next turn to the history: the results of tool calls, or the
// user's next message. It returns when the turn is due, and false if the conversation stops.
func (d *dialogue) prepare(ctx context.Context) (due time.Time, ok bool) {
	if len(d.calls) > 0 {
		d.answerCalls()
		due = d.last.end.Add(d.last.drained)
		return due, d.pause(ctx, time.Until(due))
	}
	d.userMessages++
	if d.userMessages == 1 { // the opening contains it
		return d.plan.Scheduled, true
	}
	i := d.userMessages - 2
	// The wait for a free connection is not the prober's lateness.
	due = d.last.end.Add(max(d.last.drained, valueAt(d.plan.Conversation.Think, i)))
	if !d.pause(ctx, time.Until(due)) {
		return due, false
	}
	text := "Please go on."
	if planned := d.plan.Conversation.Followups; i < len(planned) {
		text = planned[i]
	}
	d.history.messages = append(d.history.messages, workload.Message{Role: "user", Content: text})
	return due, true
}

// pause waits. It returns false if the conversation must stop.
func (d *dialogue) pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-d.plan.Stop:
		return false
	default:
	}
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(wait):
		return true
	case <-d.plan.Stop:
	case <-ctx.Done():
	}
	return false
}

// advance runs the next turn, number n. It returns false if the conversation is over.
func (d *dialogue) advance(ctx context.Context, n int, sink Sink) bool {
	if d.history.added > maxAdded {
		d.result.Shortened = true
		return false
	}
	d.prober.opts.Peaks.Added.Record(int64(d.history.added), maxAdded)
	due, ok := d.prepare(ctx)
	if !ok {
		d.result.Outcome = Canceled
		return false
	}
	r := d.newResult(n, due)
	sink.Observe(Start{Target: r.Target, Workload: r.Workload, Kind: r.Kind})
	a, err := d.ask(ctx, r, sink)
	d.conclude(ctx, r, a, err)
	sink.Observe(r.withoutSecrets())
	if r.Outcome != Success {
		return false
	}
	return d.recordAnswer(r)
}

// newResult returns the result of a turn that has not begun. It is not inlined, so that the result is on
// the heap: while thousands of streams wait, the frames of their stacks are most of the memory.
//
//go:noinline
func (d *dialogue) newResult(n int, due time.Time) *Result {
	r := &Result{
		Target: d.result.Target, Workload: d.result.Workload, Kind: First,
		Asked:  Asked{Model: d.plan.Model, Conversation: d.plan.ID, Turn: n, Scheduled: due, Burst: d.plan.Burst},
		Tokens: Tokens{ContextTokens: d.last.context},
	}
	if n > 1 {
		r.Kind = Followup
	}
	return r
}

// ask sends the request and reads the answer. If the server refuses an optional field, it returns only the
// attempt without the field.
func (d *dialogue) ask(ctx context.Context, r *Result, sink Sink) (*attempt, error) {
	learned := d.prober.opts.Learned
	r.LeftOut = learned.leftOut()
	for known := len(r.LeftOut); ; {
		a, err := d.send(ctx, r)
		switch {
		case err != nil:
			return a, err
		case a.refused == "" || len(r.LeftOut) == known+maxRefused:
			if r.Outcome == Success && learned.add(r.LeftOut) {
				sink.Observe(FieldsLearned{r.Target, r.Workload, r.LeftOut})
			}
			return a, nil
		}
		d.prober.opts.count(ForRefusedField)
		r.restart(a.refused)
	}
}

// restart empties the result of a turn that is sent again at once, without another field. It is not inlined, for
// the reason of newResult.
//
//go:noinline
func (r *Result) restart(refused string) {
	asked := r.Asked
	asked.LeftOut, asked.Scheduled = slices.Sorted(slices.Values(append(asked.LeftOut, refused))), r.End
	tokens := Tokens{ContextTokens: r.ContextTokens}
	*r = Result{Target: r.Target, Workload: r.Workload, Kind: r.Kind, Asked: asked, Tokens: tokens}
}

// conclude ends a turn. a and err are what ask returned.
func (d *dialogue) conclude(ctx context.Context, r *Result, a *attempt, err error) {
	if err == nil {
		d.complete(r, a)
	} else {
		r.Sent = time.Now()
		r.End, r.Outcome, r.Err = r.Sent, NotSent, err.Error()
		if ctx.Err() != nil {
			r.Outcome, r.Err = Canceled, shutdownText
		}
		r.Proof = proofOf(r.Outcome, false)
	}
	d.session.hide(r.Worker)
	r.Session = d.session.compare(r.Worker)
	r.PreviousPrompt = d.last.prompt
	d.last.end, d.last.prompt = r.End, max(r.PromptTokens.V-d.history.echoed, 0)
	if r.AnsweredBy != "" || r.Gateway.Fallbacks.V > 0 || a != nil && a.seen.counts.cachedBeside { // counted otherwise
		r.PreviousPrompt, d.last.prompt = 0, 0
	}
	d.last.context = Opt[int]{V: r.PromptTokens.V + r.OutputTokens.V - r.ReasoningTokens.V, OK: r.PromptTokens.OK}
	d.result.Turns, d.result.Outcome, d.result.End = r.Turn, r.Outcome, r.End
}

// complete completes the result of an attempt.
func (d *dialogue) complete(r *Result, a *attempt) {
	a.complete()
	d.prober.promptSizes.estimate(r, d.history.messages)
	d.fillRespondent(r, a)
	a.fillLag()
	dropFalseGaps(r)
	d.last.drained = a.drained
	if r.Outcome == Success {
		d.judgeRecall(r)
		d.checkAnswer(r)
	}
}

// fillRespondent sets what answered, as far as the answer says it.
func (d *dialogue) fillRespondent(r *Result, a *attempt) {
	t := &d.prober.opts.Target
	r.Gateway = gatewayOf(a.headers, t, r.Model, a.seen.model)
	r.Worker = a.worker(t.Session.Worker, r.Gateway.Backend)
	if r.Outcome == Success && !isServedModel(t, r.Model, a.seen.model) {
		r.AnsweredBy = a.seen.model
	}
}

func (d *dialogue) send(ctx context.Context, r *Result) (*attempt, error) {
	body, req, err := d.request(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	most := d.maxOutputTokens()
	if !body.HasLimit() {
		most = 0
	}
	a := &attempt{
		turn: r, seen: measurement{turn: r}, client: d.client, api: d.prober.api, sent: body.Fields,
		peaks: d.prober.opts.Peaks, lag: d.prober.opts.Lag, limits: newLimits(most, len(body.Body)),
	}
	a.run(req, d.deadlines)
	d.session.learn(a.headers)
	return a, nil
}

// recordAnswer adds an answer to the history. It returns false if the conversation ends with it.
func (d *dialogue) recordAnswer(r *Result) bool {
	if d.recordCalls(r) {
		return true
	}
	if d.userMessages == d.plan.Conversation.Turns {
		return false
	}
	m := workload.Message{Role: "assistant", Content: r.Answer}
	if r.NoAnswer {
		m.Content = r.Refusal
	}
	if m.Content == "" { // strict servers reject a message without content
		d.result.Shortened = true
		return false
	}
	d.addMessage(m, r)
	return true
}

// addMessage adds a message of the assistant, with its reasoning if the workload wants that.
func (d *dialogue) addMessage(m workload.Message, r *Result) {
	if d.prober.opts.Workload.Reasoning == workload.Echo && r.Reasoning != "" {
		m.Reasoning, m.ReasoningField = r.Reasoning, r.ReasoningField
		d.history.echoed += cmp.Or(r.ReasoningTokens.V, r.OutputTokens.V)
	}
	d.history.add(m)
}

var (
	errNoMemory = errors.New("the prober has no memory left for the conversation")
	// errNoModel prevents a request without a model name, which the server would reject.
	errNoModel = errors.New("the model is unknown, because the prober could not ask for it")
)

// request builds the request of a turn, if the memory suffices. If the key cannot be read, the
// error names its place, not its content.
func (d *dialogue) request(ctx context.Context, r *Result) (body dialect.Request, req *http.Request, err error) {
	turn := &dialect.Turn{
		Model: d.plan.Model, Spec: d.spec(), History: d.history.messages, Without: r.LeftOut, Extra: d.extra,
		Version: d.prober.opts.Target.APIVersion,
	}
	if !d.plan.Memory.Grow(Cost(turn.Spec, turn.History)) {
		return body, nil, errNoMemory
	}
	if d.plan.Model == "" && d.prober.lookupFailedHere.Load() {
		return body, nil, errNoModel
	}
	header, err := d.prober.auth.Header(ctx)
	if err != nil {
		return body, nil, err
	}
	if body, err = d.prober.api.Request(turn); err != nil {
		return body, nil, err
	}
	req, err = http.NewRequestWithContext(ctx, http.MethodPost, d.prober.opts.Target.BaseURL+body.Path, bytes.NewReader(body.Body))
	if err != nil {
		return body, nil, fmt.Errorf("building the request: %w", err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Traceparent", d.trace(r))
	d.session.apply(req)
	return body, req, nil
}

// spec returns the workload with the token limit of the next answer.
func (d *dialogue) spec() *workload.Spec {
	spec := d.prober.opts.Workload
	spec.MaxOutputTokens = d.maxOutputTokens()
	return &spec
}

// maxOutputTokens returns the token limit of the next answer.
func (d *dialogue) maxOutputTokens() int {
	if limit := valueAt(d.plan.Conversation.Outputs, d.userMessages-1); limit > 0 {
		return limit
	}
	return d.prober.opts.Workload.MaxOutputTokens
}

func (d *dialogue) deadlines(sent time.Time) deadlines {
	after := func(d time.Duration) (at time.Time) {
		if d > 0 {
			at = sent.Add(d)
		}
		return at
	}
	t := d.prober.opts.Workload.Timeouts
	patience := valueAt(d.plan.Conversation.Patience, d.userMessages-1)
	return deadlines{after(t.FirstToken), after(t.Total), after(patience), t.Stall}
}

// valueAt returns element i, or the zero value beyond the end.
func valueAt[T any](values []T, i int) (v T) {
	if i < len(values) {
		v = values[i]
	}
	return v
}

// trace assigns a turn to a span of the conversation's trace and returns its traceparent header. The
// trace is marked as sampled if its spans are exported, so that the deployment records its part.
func (d *dialogue) trace(r *Result) (traceparent string) {
	r.TraceID, r.SpanID, r.ParentSpanID = d.result.TraceID, newSpanID(), d.result.SpanID
	flags := "00"
	if d.result.SpanID != "" {
		flags = "01"
	}
	return "00-" + r.TraceID + "-" + r.SpanID + "-" + flags
}

// newSpanID returns 16 random hex digits; two of them are a trace ID. An all-zero ID is invalid.
func newSpanID() string { return fmt.Sprintf("%016x", max(rand.Uint64(), 1)) }
