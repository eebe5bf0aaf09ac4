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
	t := &turn{arrived: time.Now()}
	d.count(func(s *Stats) {
		s.Requests++
		if id, ok := traceID(r.Header.Get("Traceparent")); ok {
			s.TraceID = id
		}
	})
	t.options, t.driver = d.serving()
	refused := t.request.read(w, r, t.options.Model)
	if refused == nil {
		refused = d.begin(t)
	}
	if refused != nil {
		refused.write(w)
		return
	}
	d.serve(w, r, t)
}

// begin makes all draws of a request but those of its engine.
func (d *Deployment) begin(t *turn) *apiError {
	d.mu.Lock()
	d.sequence++
	n := d.sequence
	d.mu.Unlock()
	o := t.options
	t.id = fmt.Sprintf("chatcmpl-%016x%016x", o.Seed, n)
	t.rand = rand.New(rand.NewPCG(o.Seed, n))
	block := blockTokens
	if t.driver != nil {
		block = t.driver.config.Engine.BlockTokens
	}
	t.prompt = newPrompt(t.request.Messages, block)
	t.promptTokens = t.prompt.tokens
	room := o.MaxModelLen - t.promptTokens
	if room < 1 {
		return badRequest("messages", "This model's maximum context length is %d tokens, but the messages have %d tokens: shorten them.",
			o.MaxModelLen, t.promptTokens)
	}
	t.text = newAnswer(o.Seed, t.prompt.hash)
	t.output, t.finish = t.request.answerTokens(o.Answer.draw(t.text.rand), room)
	t.fault = o.fault(clock{start: d.began, speed: o.Speed}.now(), t.rand)
	t.faultAt = 1 + t.rand.IntN(max(t.output-1, 1))
	return nil
}

// serve answers a turn, well or with its fault.
func (d *Deployment) serve(w http.ResponseWriter, r *http.Request, t *turn) {
	switch t.fault {
	case ErrorStatus:
		engineFailed().write(w)
	case BusyStatus:
		queueFull().write(w)
	case NoAnswer:
		d.count(func(s *Stats) { s.Waiting++ })
		<-r.Context().Done()
		d.count(func(s *Stats) { s.Waiting-- })
	default:
		d.answer(w, r, t)
	}
}

// answer generates and sends a turn's answer. Counts and cache are brought up
// to date before the client sees the end: it may look at once.
func (d *Deployment) answer(w http.ResponseWriter, r *http.Request, t *turn) {
	d.count(func(s *Stats) {
		s.Running++
		s.held += t.promptTokens
	})
	out := newResponder(w, t)
	produce := d.generate
	if t.driver != nil {
		produce = d.share
	}
	err := produce(r.Context(), t, out)
	var failed *apiError
	switch {
	case err == nil:
		d.ended(t, t.finish)
		out.end()
	case errors.As(err, &failed):
		d.ended(t, "error")
		out.fail(failed)
	case errors.Is(err, errCut):
		d.ended(t, "error")
		// net/http closes the connection without the end of the body, and
		// without a stack trace in the log.
		panic(http.ErrAbortHandler)
	default:
		d.ended(t, "abort")
	}
}

// ended counts the end of a turn.
func (d *Deployment) ended(t *turn, reason string) {
	if t.driver == nil && reason == t.finish {
		d.latency[e2e].WithLabelValues(t.options.Model, engineID).Observe(time.Since(t.arrived).Seconds())
	}
	d.count(func(s *Stats) {
		s.Running--
		s.Finished[reason]++
		s.held -= t.promptTokens + t.sent
	})
}

// looked counts a turn's prompt when it is known how much of it was cached.
func (d *Deployment) looked(t *turn, cached int) {
	t.cached = cached
	d.count(func(s *Stats) {
		s.PromptTokens += t.promptTokens
		s.CachedTokens += cached
	})
}

// generate lets the engine produce the answer.
func (d *Deployment) generate(ctx context.Context, t *turn, out *responder) error {
	var engine Engine = paced(t.options)
	if t.options.Engine != nil {
		engine = t.options.Engine
	}
	d.looked(t, d.cache.use(t.prompt, t.options.CacheBlocks))
	work := Work{PromptTokens: t.promptTokens, CachedTokens: t.cached, OutputTokens: t.output, Rand: t.rand}
	send := d.sender(ctx, t, out)
	err := engine.Generate(ctx, work, func(n int) error {
		t.prompt.text(t.text.peek(n))
		return send(n)
	})
	if err == nil {
		d.cache.use(t.prompt, t.options.CacheBlocks)
	}
	return err
}

// sender returns what sends the next tokens of an answer.
func (d *Deployment) sender(ctx context.Context, t *turn, out *responder) func(n int) error {
	last := t.arrived
	return func(n int) error {
		now := time.Now()
		if t.driver == nil {
			family := itl
			if t.sent == 0 {
				family = ttft
			}
			d.latency[family].WithLabelValues(t.options.Model, engineID).Observe(now.Sub(last).Seconds())
		}
		d.count(func(s *Stats) {
			s.OutputTokens += n
			s.held += n
		})
		last = now
		reasoning := min(max(t.options.ReasoningTokens-t.sent, 0), n) * charsPerToken
		text := t.text.next(n)
		t.sent += n
		if err := out.tokens(text[:reasoning], text[reasoning:]); err != nil {
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
