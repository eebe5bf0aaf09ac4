package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/wire"
)

const (
	// drainTimeout bounds how long the body may take to end after the answer. Only a complete
	// body leaves the connection usable for the next turn.
	drainTimeout = 50 * time.Millisecond
	maxErrorBody = 64 << 10
	// statusOverloaded is a non-standard status. Some frontends, such as NVIDIA Dynamo's,
	// answer with it when they are overloaded.
	statusOverloaded = 529

	shutdownText = "canceled by the prober's own shutdown"
)

// attempt is one request and its answer.
type attempt struct {
	turn      *Result
	deadlines deadlines
	limits    limits
	seen      measurement

	client  *wire.Client
	api     *dialect.API
	sent    []string // the fields of the request
	refused string   // the optional field that the server refuses; "" if none
	peaks   *Peaks
	lag     Lateness
	// answering is true after the first token. A dial that another connection made needless can read
	// it while tokens arrive.
	answering atomic.Bool

	trace   wire.Trace
	headers http.Header
	// silent is true if a deadline ended the turn.
	silent bool
	// drained is how long the body took to end after the answer.
	drained time.Duration
}

// run sends the request and reads the answer. The turn counts as sent immediately before the transport gets the
// request.
func (a *attempt) run(req *http.Request, deadlinesFrom func(sent time.Time) deadlines) {
	ctx := req.Context()
	req = req.WithContext(wire.WithTrace(ctx, &a.trace))
	a.turn.Sent = time.Now()
	a.deadlines = deadlinesFrom(a.turn.Sent)
	a.trace.MaxBytes = a.limits.wire
	a.trace.HeaderDeadline, _ = a.deadlines.next(time.Time{})
	a.trace.Late = a.lateBefore
	resp, err := a.client.RoundTrip(req)
	if err != nil {
		a.endWithoutResponse(ctx, err)
		return
	}
	defer resp.Body.Close()
	a.headers = resp.Header
	a.turn.Status, a.turn.Phases.HTTP2 = resp.StatusCode, resp.ProtoMajor == 2
	body := resp.Body.(*wire.Body)
	defer a.peaks.record(a.limits, body, &a.seen)
	if outcome := statusOutcome(resp.StatusCode); outcome != "" {
		a.readRefusal(ctx, outcome, resp, body)
		return
	}
	a.readStream(ctx, body)
	if a.seen.done {
		a.drain(body)
	}
}

// finish sets how the turn ended. Only the first call counts.
func (a *attempt) finish(o Outcome, at time.Time, text string) {
	if r := a.turn; r.Outcome == "" {
		r.Outcome, r.End, r.Err = o, at, bound.Clip(text, maxRaw)
		r.Proof = proofOf(o, a.silent)
	}
}

func (a *attempt) readStream(ctx context.Context, body *wire.Body) {
	events := dialect.NewReader(body, a.api.Decoder(), a.limits.event)
	defer events.Close()
	for over := false; !over; {
		event, err := a.next(body, events)
		if err != nil {
			a.endReadError(ctx, body, err)
			return
		}
		over = a.addEvent(event)
	}
}

// next returns the next event. An event that arrived before the deadline counts, even if the
// prober reads it later.
func (a *attempt) next(body *wire.Body, events *dialect.Reader) (*dialect.Event, error) {
	deadline, outcome := a.deadlines.next(a.seen.lastToken)
	if err := body.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	event, err := events.Next()
	if err == nil && (deadline.IsZero() || !event.At.After(deadline)) {
		return event, nil
	}
	deadline = deadline.Add(a.trace.Extended)
	late := err == nil && event.At.After(deadline)
	if late && !event.Kernel {
		a.trace.Asked = time.Time{} // the event may have arrived in time
	}
	if late || errors.Is(err, os.ErrDeadlineExceeded) {
		a.endTimedOut(outcome, deadline, a.deadlines.explain(outcome))
		return nil, os.ErrDeadlineExceeded
	}
	return event, err
}

// addEvent reports whether the answer is over with an event.
func (a *attempt) addEvent(e *dialect.Event) (over bool) {
	switch e.Kind {
	case dialect.Error:
		if a.turn.Events == 0 {
			a.refused = a.refusedField([]byte(e.Message))
		}
		a.finish(ErrorEvent, e.At, "the stream contained an error: "+e.Message)
	case dialect.Malformed:
		a.finish(Malformed, e.At, "invalid data in the stream"+a.contentType()+": "+e.Message)
	case dialect.Done:
		a.seen.add(e, a.limits)
		a.endComplete(e.At)
	default:
		a.seen.add(e, a.limits)
		if e.Kind == dialect.Token && a.turn.Events == 1 {
			a.answering.Store(true)
		}
		text := a.limits.violation(&a.seen)
		if text == "" {
			return false
		}
		a.finish(Malformed, e.At, text)
	}
	return true
}

// contentType names the type of an answer that had no event and is no event stream, or returns "".
func (a *attempt) contentType() string {
	kind := a.headers.Get("Content-Type")
	if a.turn.Phases.FirstEvent.OK || kind == "" || strings.HasPrefix(kind, "text/event-stream") {
		return ""
	}
	return " (Content-Type " + strconv.Quote(kind) + ")"
}

// endReadError ends a turn in which reading the body failed or reached its end.
func (a *attempt) endReadError(ctx context.Context, body *wire.Body, err error) {
	var tooLarge *dialect.TooLargeError
	var unfit *wire.UnfitError
	switch {
	case a.turn.Outcome != "": // a deadline has passed
	case ctx.Err() != nil:
		a.finish(Canceled, time.Now(), shutdownText)
	case errors.Is(err, io.EOF):
		at := body.Arrival().At
		if at.IsZero() {
			at = time.Now()
		}
		a.endComplete(at)
	case errors.As(err, &unfit):
		a.finish(Malformed, time.Now(), unfit.Reason)
	case errors.As(err, &tooLarge):
		a.finish(Malformed, time.Now(), err.Error())
	default:
		a.endAbandoned(Truncated, time.Now(), "the connection broke in the middle of the stream: "+err.Error())
	}
}

// endComplete decides the outcome of a stream that ended with [DONE] or with the complete body.
// Only the finish reason shows that the answer is complete: a proxy may send [DONE] after an
// answer that its backend cut, and some servers never send [DONE].
func (a *attempt) endComplete(at time.Time) {
	hasTokens, finished := a.turn.Events > 0, a.turn.FinishReason != ""
	switch {
	case a.turn.FinishReason == dialect.Aborted:
		a.finish(Aborted, at, "the server gave the answer up, with the finish reason "+strconv.Quote(a.seen.abort))
	case a.turn.FinishReason == dialect.Filtered:
		a.finish(ContentFilter, at, "a content filter ended the answer")
	case hasTokens && finished && a.seen.onlyReasoning():
		a.finish(Empty, at, "the answer contains only reasoning, with the finish reason "+strconv.Quote(a.turn.FinishReason))
	case hasTokens && finished:
		a.finish(Success, at, "")
	case hasTokens:
		a.finish(Truncated, at, "the stream ended without a finish reason")
	case finished || a.seen.done:
		text := "the answer contains no token"
		if n := a.seen.counts.OutputTokens; n > 1 {
			text = fmt.Sprintf("no event of the answer has text, although the usage has %d output tokens", n)
		}
		a.finish(Empty, at, text)
	case a.seen.said != "":
		a.finish(Truncated, at, "the stream ended before its first token; its last event says: "+a.seen.said)
	case a.turn.Phases.FirstEvent.OK:
		a.finish(Truncated, at, "the stream ended before its first token")
	default:
		a.finish(Empty, at, "the stream contained no event"+a.contentType())
	}
}

// drain reads the rest of the body, so that the connection can be reused. It cannot change the
// turn.
func (a *attempt) drain(body *wire.Body) {
	begin := time.Now()
	defer func() { a.drained = time.Since(begin) }()
	if body.SetReadDeadline(time.Now().Add(drainTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, body, 64<<10)
	}
}

func (a *attempt) endWithoutResponse(ctx context.Context, err error) {
	now := time.Now()
	var failed *wire.Error
	step := wire.StepHeaders
	if errors.As(err, &failed) {
		step = failed.Step
	}
	var unfit *wire.UnfitError
	var reset *wire.ResetError
	_, missed := a.deadlines.next(time.Time{})
	switch {
	case ctx.Err() != nil:
		a.finish(Canceled, now, shutdownText)
	case missed == UserCanceled && isTimeout(err):
		a.endTimedOut(missed, now, a.deadlines.explain(missed))
	case errors.As(err, &unfit):
		a.finish(Malformed, now, unfit.Reason)
	case errors.As(err, &reset) && reset.Code == "ENHANCE_YOUR_CALM": // the 429 of HTTP/2
		a.finish(HTTP429, now, reset.Error())
	case reset != nil: // over HTTP/2, without a response
		a.finish(ConnectError, now, reset.Error())
	case wire.IsLocal(err) && a.trace.FirstWrite.IsZero():
		a.finish(NotSent, now, "nothing was sent: "+err.Error())
	case step == wire.StepDNS || step == wire.StepConnect:
		a.endUnconnected(ConnectError, now, err)
	case step == wire.StepTLS:
		a.endUnconnected(TLSError, now, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.endTimedOut(missed, now, a.deadlines.explain(missed))
	case step == wire.StepWrite || isConnectionLoss(err):
		a.endAbandoned(ConnectError, now, "the connection was lost before the response: "+err.Error())
	default:
		a.finish(Malformed, now, "the response is not HTTP: "+err.Error())
	}
}

// endUnconnected ends a turn that got no connection. If the peer rejects connections or cannot be
// found, the time does not matter.
func (a *attempt) endUnconnected(o Outcome, now time.Time, err error) {
	switch {
	case isTimeout(err):
		a.endTimedOut(o, now, err.Error())
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		a.endAbandoned(o, now, err.Error())
	default:
		a.finish(o, now, err.Error())
	}
}

// isTimeout reports whether one of the prober's deadlines caused the error.
func isTimeout(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &dns) && dns.IsTimeout
}

// isConnectionLoss reports whether the peer went away, rather than sent invalid data.
func isConnectionLoss(err error) bool {
	var op net.Error
	var errno syscall.Errno
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &op) || errors.As(err, &errno)
}

// readRefusal ends a turn with an error status. The error contains the message of the body, if
// it arrives in time.
func (a *attempt) readRefusal(ctx context.Context, o Outcome, resp *http.Response, body *wire.Body) {
	deadline, _ := a.deadlines.next(time.Time{})
	_ = body.SetReadDeadline(deadline)
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	message := statusError(resp, text).Error()
	a.refused = a.refusedField(text)
	switch {
	case ctx.Err() != nil:
		a.finish(Canceled, time.Now(), shutdownText)
	case a.turn.Status == http.StatusBadRequest && bytes.Contains(text, []byte(`"content_filter"`)): // Azure's code
		a.finish(ContentFilter, time.Now(), message)
	case a.turn.Status == http.StatusRequestTimeout: // the request arrived too slowly
		a.endAbandoned(o, time.Now(), message)
	default:
		a.finish(o, time.Now(), message)
	}
}

// statusOutcome returns the outcome of an error status, and "" for 2xx. A redirect, or a status below
// 200, is no answer to the request.
func statusOutcome(status int) Outcome {
	switch {
	case status/100 == 2:
		return ""
	case status < 400:
		return Malformed
	case status == http.StatusTooManyRequests, status == statusOverloaded:
		return HTTP429
	case status >= 500:
		return HTTP5xx
	}
	return HTTP4xx
}

// complete completes the turn after its end.
func (a *attempt) complete() {
	a.seen.end()
	p, t := &a.turn.Phases, &a.trace
	p.Reused, p.DNS, p.Connect, p.TLS = t.Reused, positive(t.DNS), positive(t.Connect), positive(t.TLS)
	if !t.Headers.IsZero() {
		p.Headers = Some(t.Headers.Sub(a.turn.Sent))
	}
}
