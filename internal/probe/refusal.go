package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/wire"
)

// maxErrorBody is how much of an error body is read.
const maxErrorBody = 64 << 10

// refused ends a turn that got no response headers.
func (a *attempt) refused(ctx context.Context, err error) {
	now := time.Now()
	var failed *wire.Error
	step := wire.StepHeaders
	if errors.As(err, &failed) {
		step = failed.Step
	}
	reason, isUnfit := unfit(err)
	_, by := a.limits.next(time.Time{})
	switch {
	case ctx.Err() != nil:
		a.finish(Canceled, now, "canceled by the prober's own shutdown")
	case by == UserCanceled && expired(err):
		a.lapse(by, now, a.limits.explain(by))
	case isUnfit:
		a.finish(Malformed, now, reason)
	case wire.IsLocal(err) && a.trace.FirstWrite.IsZero():
		a.finish(NotSent, now, "nothing was sent: "+err.Error())
	case step == wire.StepDNS || step == wire.StepConnect:
		a.unreached(ConnectError, now, err)
	case step == wire.StepTLS:
		a.unreached(TLSError, now, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.lapse(by, now, a.limits.explain(by))
	case step == wire.StepWrite || lost(err):
		a.forsaken(ConnectError, now, "the connection was lost before the response: "+err.Error())
	default:
		a.finish(Malformed, now, "the response is no HTTP: "+err.Error())
	}
}

// lost reports whether err means that the peer went away, as against having
// sent something that cannot be read.
func lost(err error) bool {
	var op net.Error
	var errno syscall.Errno
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &op) || errors.As(err, &errno)
}

// readRefusal ends a turn whose status is an error with what the body says of
// it, as far as it comes in time.
func (a *attempt) readRefusal(ctx context.Context, by Outcome, body *wire.Body) {
	deadline, _ := a.limits.next(time.Time{})
	_ = body.SetReadDeadline(deadline)
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	if ctx.Err() != nil {
		a.finish(Canceled, time.Now(), "canceled by the prober's own shutdown")
		return
	}
	if a.status == http.StatusBadRequest && bytes.Contains(text, []byte(`"content_filter"`)) { // as Azure says it
		by = ContentFilter
	}
	said := fmt.Sprintf("HTTP %d: %s", a.status, cmp.Or(stream.ErrorMessage(text), "no further word"))
	if a.status == http.StatusRequestTimeout { // the request came too slowly
		a.forsaken(by, time.Now(), said)
		return
	}
	a.finish(by, time.Now(), said)
}

// statusOverloaded is 529, which no standard knows and with which some
// frontends (NVIDIA Dynamo's, for one) say that they are up and overloaded.
const statusOverloaded = 529

// outcomeOfStatus maps every status but 2xx to its outcome.
func outcomeOfStatus(status int) (Outcome, bool) {
	switch {
	case status/100 == 2:
		return "", false
	case status == http.StatusTooManyRequests, status == statusOverloaded:
		return HTTP429, true
	case status >= 500:
		return HTTP5xx, true
	}
	return HTTP4xx, true
}
