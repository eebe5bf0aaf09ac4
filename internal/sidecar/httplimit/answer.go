package httplimit

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// errTooLong reports that rendering an answer took longer than renderTimeout.
var errTooLong = errors.New("the answer takes too long to be made")

// answer is what a handler wrote, kept until it is sent. It implements
// http.ResponseWriter.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	made   time.Time // start of the rendering
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write appends to the body. It fails after renderTimeout, which ends a handler that checks
// errors.
func (a *answer) Write(p []byte) (int, error) {
	if time.Since(a.made) > renderTimeout {
		return 0, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// render returns the answer of h to r, or an error if h takes too long.
func render(h http.Handler, r *http.Request) (*answer, error) {
	a := &answer{header: http.Header{}, made: time.Now()}
	h.ServeHTTP(a, r)
	if time.Since(a.made) > renderTimeout {
		return nil, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a, nil
}

// send writes the answer, within the time that a reader may take. An error means that the
// client has gone.
func (a *answer) send(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout)) // without a deadline of its own, the server's holds
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// turn is a lock that one request holds at a time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the lock. It fails when the client goes or the wait is too long. give releases
// it.
func (t turn) take(ctx context.Context) (give func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, renderTimeout, errTooLong)
	defer cancel()
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Pages serves the answers of h. It renders one answer at a time and sends each at its reader's
// pace, so a slow reader delays nobody else.
func Pages(h http.Handler) http.Handler {
	one := newTurn()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := one.make(h, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		a.send(w)
	})
}

// make renders an answer while it holds the lock.
func (t turn) make(h http.Handler, r *http.Request) (*answer, error) {
	give, err := t.take(r.Context())
	if err != nil {
		return nil, err
	}
	defer give()
	return render(h, r)
}
