package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"synthetic/internal/probe/api"
	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/wire"
)

// drainFor bounds how long a finished stream may take to end its body, so that
// its connection can be kept for the next turn.
const drainFor = 50 * time.Millisecond

// attempt is one request and its answer, from sending to an outcome.
type attempt struct {
	client *wire.Client
	how    api.Stream
	scrub  scrubber
	limits deadlines
	most   amounts
	peaks  *Peaks
	seen   measurement
	lag    Lateness

	trace   wire.Trace
	status  int
	headers http.Header
	outcome Outcome
	end     time.Time
	err     string
	// drained is how long the body took to end once the answer was over.
	drained time.Duration
	// paced is the longest wait for the pacer.
	paced time.Duration
}

// run sends the request and follows its answer to the end. Sent is stamped
// immediately before the request is handed to the transport.
func (a *attempt) run(req *http.Request, limits func(sent time.Time) deadlines) {
	ctx := req.Context()
	req = req.WithContext(wire.WithTrace(ctx, &a.trace))
	a.seen.sent = time.Now()
	a.limits = limits(a.seen.sent)
	a.trace.MaxBytes = a.most.wire
	a.trace.HeaderDeadline, _ = a.limits.next(time.Time{})
	resp, err := a.client.RoundTrip(req)
	if err != nil {
		a.refused(ctx, err)
		return
	}
	defer resp.Body.Close()
	a.status, a.headers = resp.StatusCode, resp.Header
	body, ok := resp.Body.(*wire.Body)
	if !ok {
		a.finish(Malformed, time.Now(), "the response has no body")
		return
	}
	defer func() { a.paced = body.Paced() }()
	defer a.peaks.see(a.most, body, &a.seen)
	if by, ok := outcomeOfStatus(resp.StatusCode); ok {
		a.readRefusal(ctx, by, body)
		return
	}
	a.readStream(ctx, body)
	if a.seen.done {
		a.drain(body)
	}
}

// finish sets how the turn ended; only the first call counts.
func (a *attempt) finish(o Outcome, at time.Time, text string) {
	if a.outcome == "" {
		a.outcome, a.end, a.err = o, at, a.scrub.clean(text)
	}
}

// readStream takes the events of the stream until the turn has ended.
func (a *attempt) readStream(ctx context.Context, body *wire.Body) {
	a.how.MaxEventBytes = a.most.event
	events := stream.NewReader(body, a.how.Options)
	for a.outcome == "" {
		event, err := a.next(body, events)
		if err != nil {
			a.broke(ctx, body, err)
			return
		}
		a.take(event)
	}
}

// next returns the next event. A deadline that passed while the event had
// arrived in time does not count: that lateness is the prober's own.
func (a *attempt) next(body *wire.Body, events *stream.Reader) (*stream.Event, error) {
	deadline, outcome := a.limits.next(a.seen.lastToken)
	if err := body.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	event, err := events.Next()
	late := err == nil && !deadline.IsZero() && event.At.After(deadline)
	if late || errors.Is(err, os.ErrDeadlineExceeded) {
		a.lapse(outcome, deadline, a.limits.explain(outcome))
		return nil, os.ErrDeadlineExceeded
	}
	return event, err
}

// take adds an event, and ends the turn where the event says so.
func (a *attempt) take(e *stream.Event) {
	switch e.Kind {
	case stream.Error:
		a.finish(ErrorEvent, e.At, "the stream carried an error: "+e.Message)
	case stream.Malformed:
		a.finish(Malformed, e.At, "bad data in the stream: "+e.Message)
	case stream.Done:
		a.seen.add(e)
		a.conclude(e.At)
	default:
		a.seen.add(e)
		if text := a.most.excess(&a.seen); text != "" {
			a.finish(Malformed, e.At, text)
		}
	}
}

// broke ends a turn whose body gave err.
func (a *attempt) broke(ctx context.Context, body *wire.Body, err error) {
	var tooLarge *stream.TooLargeError
	reason, isUnfit := unfit(err)
	switch {
	case a.outcome != "": // a deadline
	case ctx.Err() != nil:
		a.finish(Canceled, time.Now(), "canceled by the prober's own shutdown")
	case errors.Is(err, io.EOF):
		at := body.Arrival().At
		if at.IsZero() {
			at = time.Now()
		}
		a.conclude(at)
	case isUnfit:
		a.finish(Malformed, time.Now(), reason)
	case errors.As(err, &tooLarge):
		a.finish(Malformed, time.Now(), err.Error())
	default:
		a.forsaken(Truncated, time.Now(), "the connection broke in mid-stream: "+err.Error())
	}
}

// conclude judges a stream that ended in good order at a time, by [DONE] or by
// a whole body. The finish reason, not [DONE], shows that the answer is whole:
// a proxy may put [DONE] behind an answer that its backend cut, and some
// servers send no [DONE].
func (a *attempt) conclude(at time.Time) {
	tokens, finished := a.seen.events > 0, a.seen.finish != "" || a.how.Endless
	switch {
	case a.seen.finish == finishFilter:
		a.finish(ContentFilter, at, "a content filter ended the answer")
	case tokens && finished && a.seen.thoughtOnly():
		a.finish(Empty, at, "the answer is reasoning alone, and ended with "+strconv.Quote(a.seen.finish))
	case tokens && finished, a.how.Document && finished:
		a.finish(Success, at, "")
	case tokens:
		a.finish(Truncated, at, "the stream ended without a finish reason")
	case finished || a.seen.done:
		a.finish(Empty, at, "the answer carries no token")
	case !a.seen.firstEvent.IsZero():
		a.finish(Truncated, at, "the stream ended before its first token")
	default:
		a.finish(Empty, at, "the stream carried no event")
	}
}

// drain reads what may follow [DONE], so that the connection can be kept. The
// turn is over: nothing here can change it.
func (a *attempt) drain(body *wire.Body) {
	begin := time.Now()
	defer func() { a.drained = time.Since(begin) }()
	if body.SetReadDeadline(time.Now().Add(drainFor)) == nil {
		_, _ = io.CopyN(io.Discard, body, 64<<10)
	}
}
