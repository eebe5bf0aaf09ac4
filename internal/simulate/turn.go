package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// turn is a valid request and its answer.
type turn struct {
	api     api
	options Options
	driver  *driver // of the cluster that answers; nil without one
	request chatRequest
	arrived time.Time
	id      string

	prompt       *chain // and the answer so far
	promptTokens int
	cached       int
	history      []message // that the answer depends on; a fault can change it
	plannedAnswer

	rand       *rand.Rand
	fault      IncidentKind // "" if there is none
	faultAfter int          // output tokens before a fault in mid-stream

	sent int // output tokens so far
}

// plannedAnswer is what the complete answer will be.
type plannedAnswer struct {
	text      *answer
	textKey   uint64 // determines text
	reasoning int    // tokens of reasoning at the start of the answer
	call      *toolCall
	output    int    // tokens of the complete answer
	finish    string // reason for its end
}

// errCut ends an answer by closing its connection.
var errCut = errors.New("simulated cut in mid-stream")

func (d *Deployment) handle(a api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t := &turn{api: a, arrived: time.Now(), driver: d.driver}
		d.updateStats(func(s *Stats) { s.Requests++ })
		t.options = d.current()
		invalid := t.request.read(w, r, a, t.options)
		if invalid == nil {
			invalid = d.prepare(t)
		}
		if invalid != nil {
			invalid.write(w, a.errorBody)
			return
		}
		d.serve(w, r, t)
	}
}

// prepare makes all random draws of a request except those of its engine.
func (d *Deployment) prepare(t *turn) *apiError {
	d.mu.Lock()
	d.requests++
	n := d.requests
	d.mu.Unlock()
	o := t.options
	t.id = fmt.Sprintf("chatcmpl-%016x%016x", o.Seed, n)
	t.rand = rand.New(rand.NewPCG(o.Seed, n))
	t.fault = o.drawFault(clock{start: d.began, speed: o.Speed}.now(), t.rand)
	block := blockTokens
	if t.driver != nil {
		block = t.driver.config.Engine.BlockTokens
	}
	t.prompt = newPrompt(t.request.Messages, block)
	t.promptTokens = t.prompt.tokens
	t.history = d.historyFor(t)
	room := o.MaxModelLen - t.promptTokens
	if room < 1 {
		return badRequest("messages", "This model's maximum context length is %d tokens, but the messages have %d tokens: shorten them.",
			o.MaxModelLen, t.promptTokens)
	}
	t.planAnswer(n, room)
	t.faultAfter = 1 + t.rand.IntN(max(t.output-1, 1))
	return nil
}

// planAnswer chooses text, length and end of the answer to request number n. A prompt always gets
// the same answer, unless the request sets a temperature above 0.
func (t *turn) planAnswer(n uint64, room int) {
	o, q := t.options, &t.request
	t.textKey = t.prompt.hash
	if t.fault == Foreign {
		t.textKey = newPrompt(t.history, blockTokens).hash
	}
	if q.Temperature != nil && *q.Temperature > 0 {
		t.textKey ^= cluster.Mix(n)
	}
	t.text = newAnswer(o.Seed, t.textKey)
	length := o.Answer
	if o.FirstAnswer.Median > 0 && !slices.ContainsFunc(q.Messages, func(m message) bool { return m.Role == "assistant" }) {
		length = o.FirstAnswer
	}
	wanted := length.Draw(t.text.rand)
	t.reasoning = int(math.Round(o.Reasoning * float64(wanted)))
	text, ok := t.structured(rand.New(rand.NewPCG(t.textKey, o.Seed)))
	if ok {
		wanted = t.text.end(t.reasoning, text)
		q.IgnoreEOS = false
	} else {
		t.text.insert(t.reasoning, requestedReference(t.history))
	}
	t.output, t.finish = q.answerTokens(wanted, room)
	if t.call != nil && t.finish == "stop" {
		t.finish = toolCalls
	}
}

// serve answers a turn, or fails it at once.
func (d *Deployment) serve(w http.ResponseWriter, r *http.Request, t *turn) {
	switch t.fault {
	case ErrorStatus:
		engineFailed().write(w, t.api.errorBody)
	case BusyStatus:
		e := newError(http.StatusTooManyRequests, "rate_limit_error", "The queue is full; try again later (simulated fault).")
		e.Code = "rate_limit_exceeded"
		e.write(w, t.api.errorBody)
	case NoAnswer:
		d.updateStats(func(s *Stats) { s.Waiting++ })
		<-r.Context().Done()
		d.updateStats(func(s *Stats) { s.Waiting-- })
	default:
		d.answer(w, r, t)
	}
}

// answer generates and sends the answer. It updates counts and cache before the client sees the end,
// because the client may check them at once.
func (d *Deployment) answer(w http.ResponseWriter, r *http.Request, t *turn) {
	d.updateStats(func(s *Stats) {
		s.Running++
		s.held += t.promptTokens
	})
	out := &responder{turn: t, w: w}
	generate := d.generate
	if t.driver != nil {
		generate = d.generateOnCluster
	}
	err := generate(r.Context(), t, out)
	var failed *apiError
	switch {
	case err == nil:
		d.countEnd(t, t.finish)
		out.end()
	case errors.As(err, &failed):
		d.countEnd(t, "error")
		out.fail(failed)
	case errors.Is(err, errCut):
		d.countEnd(t, "error")
		// net/http then closes the connection without the end of the body and without a log line.
		panic(http.ErrAbortHandler)
	default:
		d.countEnd(t, "abort")
	}
}

func (d *Deployment) countEnd(t *turn, reason string) {
	d.updateStats(func(s *Stats) {
		s.Running--
		s.Finished[reason]++
		s.held -= t.promptTokens + t.sent
	})
}

func (d *Deployment) countPrompt(t *turn, cached int) {
	t.cached = cached
	d.updateStats(func(s *Stats) {
		s.PromptTokens += t.promptTokens
		s.CachedTokens += cached
	})
}

// generate generates the answer of a deployment without a cluster.
func (d *Deployment) generate(ctx context.Context, t *turn, out *responder) error {
	d.countPrompt(t, d.cache.use(t.prompt, cacheBlocks))
	out.open()      // the headers come before the first token
	_ = out.flush() // if the client left, the next event fails, too
	send := d.sender(ctx, t, out)
	err := t.options.pace(ctx, t.rand, t.promptTokens-t.cached, t.output, func(n int) error {
		t.prompt.addText(t.text.peek(n))
		return send(n)
	})
	if err == nil {
		d.cache.use(t.prompt, cacheBlocks)
	}
	return err
}

// sender returns a function that sends the next n tokens of the answer.
func (d *Deployment) sender(ctx context.Context, t *turn, out *responder) func(n int) error {
	last := t.arrived
	return func(n int) error {
		now := time.Now()
		if t.driver == nil {
			d.latency.observe(t.options.Model, engineID, t.sent == 0, now.Sub(last).Seconds())
		}
		d.updateStats(func(s *Stats) {
			s.OutputTokens += n
			s.held += n
		})
		last = now
		if err := out.send(t.nextPiece(n)); err != nil {
			return err
		}
		return t.midStreamFault(ctx)
	}
}

func (t *turn) nextPiece(n int) piece {
	reasoning := min(t.reasoning-t.reasoningSent(), n)
	p := piece{reasoning: t.text.next(reasoning)}
	text := t.text.next(n - reasoning)
	if t.call != nil {
		p.arguments = text
	} else {
		p.content = text
	}
	t.sent += n
	return p
}

// reasoningSent returns how many of the tokens sent so far are reasoning.
func (t *turn) reasoningSent() int { return min(t.reasoning, t.sent) }

// midStreamFault returns the error of a fault in mid-stream when it is due. A stall returns when the
// client leaves.
func (t *turn) midStreamFault(ctx context.Context) error {
	if t.sent < t.faultAfter {
		return nil
	}
	switch t.fault {
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
