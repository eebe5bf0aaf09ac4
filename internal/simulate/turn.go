package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"synthetic/internal/simulate/cluster"
)

// turn is one valid request while it is served.
type turn struct {
	api     api
	options Options
	driver  *driver // of the cluster that answers, if one does
	request chatRequest
	arrived time.Time
	id      string

	// Of the model that answers: see identify.
	model, fingerprint string
	key                uint64

	prompt       *chain
	promptTokens int
	cached       int
	text         *answer
	textKey      uint64    // what the text follows from
	thinks       int       // tokens of reasoning that begin the answer
	call         *toolCall // if the answer calls a tool; its arguments are the text
	output       int       // tokens of the whole answer
	finish       string    // why it ends there

	rand    *rand.Rand
	fault   Incident // of no kind for none
	faultAt int      // output tokens after which a fault in mid-stream comes
	drift   float64  // of the log-probabilities
	flips   map[int]string

	sent  int // output tokens so far
	first time.Time
}

// errCut ends an answer with its connection.
var errCut = errors.New("simulated cut in mid-stream")

// complete serves an API's requests.
func (d *Deployment) complete(a api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t := &turn{api: a, arrived: time.Now()}
		caller := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
		d.count(func(s *Stats) {
			s.Requests++
			if caller.HasTraceID() {
				s.TraceID = caller.TraceID().String()
			}
		})
		t.options, t.driver = d.serving()
		refused := t.request.read(w, r, a, t.options)
		if refused == nil {
			refused = d.begin(t)
		}
		if refused != nil {
			refused.write(w, a.refusal)
			return
		}
		d.serve(w, r, t)
	}
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
	t.fault = o.fault(clock{start: d.began, speed: o.Speed}.now(), t.rand)
	t.identify()
	block := blockTokens
	if t.driver != nil {
		block = t.driver.config.Engine.BlockTokens
	}
	t.prompt = newPrompt(t.request.Messages, block, t.key)
	t.promptTokens = t.prompt.tokens
	room := o.MaxModelLen - t.promptTokens
	if room < 1 {
		return badRequest("messages", "This model's maximum context length is %d tokens, but the messages have %d tokens: shorten them.",
			o.MaxModelLen, t.promptTokens)
	}
	t.write(n, room)
	t.faultAt = 1 + t.rand.IntN(max(t.output-1, 1))
	return nil
}

// write decides on the text of an answer, its length and its end. One prompt
// has one answer, unless a temperature is asked for.
func (t *turn) write(n uint64, room int) {
	o, q := t.options, &t.request
	t.textKey = t.prompt.hash
	if q.Temperature != nil && *q.Temperature > 0 {
		t.textKey ^= cluster.Mix(n)
	}
	t.text = newAnswer(o.Seed, t.textKey)
	wanted := o.Answer.draw(t.text.rand)
	t.thinks = q.thinking(o.Reasoning, wanted)
	garbled, endless := t.text.garble(t.fault.Kind)
	if endless && q.maxTokens() != nil {
		q.IgnoreEOS = true
	}
	if text, ok := t.structured(rand.New(rand.NewPCG(t.textKey, o.Seed))); ok && !garbled {
		wanted = t.text.fix(t.thinks, text)
		q.MinTokens, q.IgnoreEOS = 0, false
	}
	t.output, t.finish = q.answerTokens(wanted, room)
	if t.call != nil && t.finish == "stop" {
		t.finish = toolCalls
	}
	if t.fault.Kind == Drift {
		t.drift = t.fault.Factor
		t.diverge(t.output)
	}
}

// serve answers a turn, well or with its fault.
func (d *Deployment) serve(w http.ResponseWriter, r *http.Request, t *turn) {
	switch t.fault.Kind {
	case ErrorStatus:
		engineFailed().write(w, t.api.refusal)
	case BusyStatus:
		queueFull().write(w, t.api.refusal)
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
	out := &responder{turn: t, w: w}
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
	if t.request.Stream { // it begins before its first token
		out.open()
		_ = out.flush() // to a client that went: the next event fails as well
	}
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
		if err := out.tokens(t.piece(n)); err != nil {
			return err
		}
		return t.midStream(ctx)
	}
}

// piece is what the next tokens say.
func (t *turn) piece(n int) piece {
	if t.sent == 0 {
		t.first = time.Now()
	}
	thinks := min(t.thinks-t.thought(), n)
	p := piece{reasoning: t.text.next(thinks)}
	said := t.text.next(n - thinks)
	if t.call != nil {
		p.arguments = said
	} else {
		p.content, p.logprobs = said, t.logprobs(t.sent+thinks, said)
	}
	t.sent += n
	return p
}

// midStream returns the error of a fault that is due. A stall is that fault's
// own doing: it ends when the client goes.
func (t *turn) midStream(ctx context.Context) error {
	if t.sent < t.faultAt {
		return nil
	}
	switch t.fault.Kind {
	case StallStream:
		<-ctx.Done()
		return context.Cause(ctx)
	case ErrorEvent:
		return engineFailed()
	case CutStream:
		return errCut
	}
	return nil
}
