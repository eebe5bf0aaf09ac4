package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"synthetic/internal/stream"
	"synthetic/internal/wire"
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
	switch {
	case ctx.Err() != nil:
		a.finish(Canceled, now, "canceled by the prober's own shutdown")
	case step == wire.StepDNS || step == wire.StepConnect:
		a.finish(ConnectError, now, err.Error())
	case step == wire.StepTLS:
		a.finish(TLSError, now, err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.finish(TimeoutFirstToken, now, a.limits.explain(TimeoutFirstToken))
	case step == wire.StepWrite || lost(err):
		a.finish(ConnectError, now, "the connection was lost before the response: "+err.Error())
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

// readWhole ends a turn whose response is no event stream: an error status, or
// a JSON document with status 200.
func (a *attempt) readWhole(ctx context.Context, resp *http.Response, body *wire.Body) {
	deadline, outcome := a.limits.next(time.Time{})
	_ = body.SetReadDeadline(deadline)
	text, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
	now := time.Now()
	if ctx.Err() != nil {
		a.finish(Canceled, now, "canceled by the prober's own shutdown")
		return
	}
	message, isError := stream.ErrorMessage(text)
	if by, ok := outcomeOfStatus(resp.StatusCode); ok {
		a.finish(by, now, fmt.Sprintf("HTTP %d: %s", resp.StatusCode, cmp.Or(message, "no further word")))
		return
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.finish(outcome, deadline, a.limits.explain(outcome))
	case err != nil:
		a.finish(Truncated, now, "the connection broke in the body: "+err.Error())
	case isError:
		a.finish(ErrorEvent, now, "the response is an error in spite of its status: "+message)
	default:
		a.finish(Malformed, now, "the response is a JSON document, not an event stream; does the server support \"stream\": true? It begins: "+string(text[:min(len(text), 100)]))
	}
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

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
