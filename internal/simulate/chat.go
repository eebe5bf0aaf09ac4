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
	request chatRequest
	arrived time.Time
	id      string

	prompt *chain
	cached int
	text   *answer
	output int    // tokens of the whole answer
	finish string // why it ends there

	rand    *rand.Rand
	fault   fault
	faultAt int // output tokens after which a fault in mid-stream comes

	sent int // output tokens so far
}

// errFault ends a generation at its fault in mid-stream.
var errFault = errors.New("simulated fault in mid-stream")

// chat serves /v1/chat/completions.
func (d *Deployment) chat(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	d.meter.requested(r.Header.Get("Traceparent"))
	o := d.current()
	q, refused := readRequest(w, r, o.Model)
	if refused != nil {
		refused.write(w)
		return
	}
	t, refused := d.begin(o, q, arrived)
	if refused != nil {
		refused.write(w)
		return
	}
	d.serve(w, r, t)
}

// begin makes all draws of a request but those of its engine.
func (d *Deployment) begin(o Options, q chatRequest, arrived time.Time) (*turn, *apiError) {
	n := d.number()
	t := &turn{
		options: o, request: q, arrived: arrived,
		id:     fmt.Sprintf("chatcmpl-%016x%016x", o.Seed, n),
		prompt: newPrompt(q.Messages),
		rand:   rand.New(rand.NewPCG(o.Seed, n)),
	}
	room := o.MaxModelLen - t.prompt.tokens
	if room < 1 {
		return nil, badRequest("messages", "This model's maximum context length is %d tokens, but the messages have %d tokens: shorten them.",
			o.MaxModelLen, t.prompt.tokens)
	}
	t.text = newAnswer(o.Seed, t.prompt.hash)
	t.output, t.finish = q.answerTokens(o.Answer.draw(t.text.rand), room)
	t.fault = o.Faults.draw(t.rand)
	t.faultAt = 1 + t.rand.IntN(max(t.output-1, 1))
	return t, nil
}

// serve answers a turn, well or with its fault.
func (d *Deployment) serve(w http.ResponseWriter, r *http.Request, t *turn) {
	switch t.fault {
	case http500:
		engineFailed().write(w)
	case http429:
		queueFull().write(w)
	case hang:
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
	t.cached = d.cache.use(t.prompt, t.options.CacheBlocks)
	d.meter.began(t)
	err := d.generate(r.Context(), t, out)
	switch {
	case err == nil:
		d.cache.use(t.prompt, t.options.CacheBlocks)
		d.meter.ended(t, t.finish)
		out.end()
	case !errors.Is(err, errFault):
		d.meter.ended(t, "abort")
	case t.fault == inBandError:
		d.meter.ended(t, "error")
		out.fail(engineFailed())
	default:
		d.meter.ended(t, "error")
		// net/http closes the connection without the end of the body, and
		// without a stack trace in the log.
		panic(http.ErrAbortHandler)
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
	work := Work{PromptTokens: t.prompt.tokens, CachedTokens: t.cached, OutputTokens: t.output, Rand: t.rand}
	var buf []byte
	last := t.arrived
	return engine.Generate(ctx, work, func(n int) error {
		now := time.Now()
		d.meter.generated(t, n, now.Sub(last))
		last = now
		reasoning := min(max(t.options.ReasoningTokens-t.sent, 0), n)
		buf = t.text.next(buf[:0], n)
		t.prompt.text(string(buf))
		t.sent += n
		if err := out.tokens(buf[:reasoning*charsPerToken], buf[reasoning*charsPerToken:]); err != nil {
			return err
		}
		return t.midStream(ctx)
	})
}

// midStream returns errFault when a fault in mid-stream is due. A stall is
// that fault's own doing: it ends when the client goes.
func (t *turn) midStream(ctx context.Context) error {
	switch {
	case t.fault == healthy || t.sent < t.faultAt:
		return nil
	case t.fault == stall:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return errFault
}

// usage is the token count of what was sent so far.
func (t *turn) usage() map[string]any {
	u := map[string]any{
		"prompt_tokens":     t.prompt.tokens - t.sent,
		"completion_tokens": t.sent,
		"total_tokens":      t.prompt.tokens,
	}
	if !t.options.Dialect.NoCachedTokens {
		u["prompt_tokens_details"] = map[string]int{"cached_tokens": t.cached}
	}
	if n := t.options.ReasoningTokens; n > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": min(n, t.sent)}
	}
	return u
}
