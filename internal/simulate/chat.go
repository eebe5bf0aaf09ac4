package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// turn is one valid chat request while it is served.
type turn struct {
	options Options
	driver  *driver // of the cluster that answers, if one does
	request chatRequest
	arrived time.Time
	id      string

	prompt       *chain
	promptTokens int
	cached       int
	text         *answer
	output       int    // tokens of the whole answer
	finish       string // why it ends there

	rand    *rand.Rand
	fault   IncidentKind // "" for none
	faultAt int          // output tokens after which a fault in mid-stream comes

	sent int // output tokens so far
}

// errCut ends an answer with its connection.
var errCut = errors.New("simulated cut in mid-stream")

// chat serves /v1/chat/completions.
func (d *Deployment) chat(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	d.meter.requested(r.Header.Get("Traceparent"))
	o, driver := d.serving()
	q, refused := readRequest(w, r, o.Model)
	if refused != nil {
		refused.write(w)
		return
	}
	t, refused := d.begin(o, driver, q, arrived)
	if refused != nil {
		refused.write(w)
		return
	}
	d.serve(w, r, t)
}

// begin makes all draws of a request but those of its engine.
func (d *Deployment) begin(o Options, driver *driver, q chatRequest, arrived time.Time) (*turn, *apiError) {
	n := d.number()
	t := &turn{
		options: o, driver: driver, request: q, arrived: arrived,
		id:     fmt.Sprintf("chatcmpl-%016x%016x", o.Seed, n),
		prompt: newPrompt(q.Messages, blockSize(driver)),
		rand:   rand.New(rand.NewPCG(o.Seed, n)),
	}
	t.promptTokens = t.prompt.tokens
	room := o.MaxModelLen - t.prompt.tokens
	if room < 1 {
		return nil, badRequest("messages", "This model's maximum context length is %d tokens, but the messages have %d tokens: shorten them.",
			o.MaxModelLen, t.prompt.tokens)
	}
	t.text = newAnswer(o.Seed, t.prompt.hash)
	t.output, t.finish = q.answerTokens(o.Answer.draw(t.text.rand), room)
	t.fault = o.faults(o.elapsed(d.began)).draw(t.rand)
	t.faultAt = 1 + t.rand.IntN(max(t.output-1, 1))
	return t, nil
}

// serve answers a turn, well or with its fault.
func (d *Deployment) serve(w http.ResponseWriter, r *http.Request, t *turn) {
	switch t.fault {
	case ErrorStatus:
		engineFailed().write(w)
	case BusyStatus:
		queueFull().write(w)
	case NoAnswer:
		d.meter.waiting(+1)
		defer d.meter.waiting(-1)
		<-r.Context().Done()
	default:
		d.answer(w, r, t)
	}
}

// answer generates and sends a turn's answer. Counts and cache are brought up
// to date before the client sees the end: it may look at once.
func (d *Deployment) answer(w http.ResponseWriter, r *http.Request, t *turn) {
	var out responder = &whole{turn: t, w: w}
	if t.request.Stream {
		out = newEvents(w, t)
	}
	d.meter.began(t)
	var err error
	if t.driver != nil {
		err = d.share(r.Context(), t, out)
	} else {
		err = d.generate(r.Context(), t, out)
	}
	var failed *apiError
	switch {
	case err == nil:
		d.meter.ended(t, t.finish)
		out.end()
	case errors.As(err, &failed):
		d.meter.ended(t, "error")
		out.fail(failed)
	case errors.Is(err, errCut):
		d.meter.ended(t, "error")
		// net/http closes the connection without the end of the body, and
		// without a stack trace in the log.
		panic(http.ErrAbortHandler)
	default:
		d.meter.ended(t, "abort")
	}
}

// responder sends an answer to the client.
type responder interface {
	// start is called before the first token is due.
	start() error
	// tokens sends the next text of an answer, its reasoning and its content.
	tokens(reasoning, content []byte) error
	// end completes the answer, fail ends it with an error.
	end()
	fail(*apiError)
}

// generate lets the engine produce the answer.
func (d *Deployment) generate(ctx context.Context, t *turn, out responder) error {
	if err := out.start(); err != nil {
		return err
	}
	engine := t.options.Engine
	if engine == nil {
		engine = t.options.paced()
	}
	t.cached = d.cache.use(t.prompt, t.options.CacheBlocks)
	d.meter.looked(t)
	work := Work{PromptTokens: t.promptTokens, CachedTokens: t.cached, OutputTokens: t.output, Rand: t.rand}
	send := d.sender(ctx, t, out)
	err := engine.Generate(ctx, work, func(n int) error {
		t.prompt.text(string(t.text.peek(n)))
		return send(n)
	})
	if err == nil {
		d.cache.use(t.prompt, t.options.CacheBlocks)
	}
	return err
}

// sender returns what sends the next tokens of an answer.
func (d *Deployment) sender(ctx context.Context, t *turn, out responder) func(n int) error {
	last := t.arrived
	return func(n int) error {
		now := time.Now()
		d.meter.generated(t, n, now.Sub(last))
		last = now
		reasoning := min(max(t.options.ReasoningTokens-t.sent, 0), n)
		text := t.text.next(n)
		t.sent += n
		if err := out.tokens(text[:reasoning*charsPerToken], text[reasoning*charsPerToken:]); err != nil {
			return err
		}
		return t.midStream(ctx)
	}
}

// midStream returns the error of a fault that is due. A stall is that fault's
// own doing: it ends when the client goes.
func (t *turn) midStream(ctx context.Context) error {
	if t.fault == "" || t.sent < t.faultAt {
		return nil
	}
	switch t.fault {
	case StallStream:
		<-ctx.Done()
		return context.Cause(ctx)
	case ErrorEvent:
		return engineFailed()
	}
	return errCut
}

// usage is the token count of what was sent so far.
func (t *turn) usage() map[string]any {
	u := map[string]any{
		"prompt_tokens":     t.promptTokens,
		"completion_tokens": t.sent,
		"total_tokens":      t.promptTokens + t.sent,
	}
	if !t.options.Dialect.NoCachedTokens {
		u["prompt_tokens_details"] = map[string]int{"cached_tokens": t.cached}
	}
	if n := t.options.ReasoningTokens; n > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": min(n, t.sent)}
	}
	return u
}
