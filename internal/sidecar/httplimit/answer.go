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

// errTooLong ends the making of an answer.
var errTooLong = errors.New("the answer takes too long to be made")

// answer is what a handler wrote, kept until it is sent. It implements
// http.ResponseWriter.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	made   time.Time // when its making began
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write takes a part of the body; it fails once the making took too long, which
// ends a handler that looks at errors.
func (a *answer) Write(p []byte) (int, error) {
	if time.Since(a.made) > renderTimeout {
		return 0, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// made is the answer of h to r; an error if it takes too long.
func made(h http.Handler, r *http.Request) (*answer, error) {
	a := &answer{header: http.Header{}, made: time.Now()}
	h.ServeHTTP(a, r)
	if time.Since(a.made) > renderTimeout {
		return nil, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a, nil
}

// send writes the answer out, for as long as a reader may take. One that went
// away is nobody's concern.
func (a *answer) send(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout)) // or the server's holds
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// turn lets one at a time pass.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn, and gives up with the client or when it takes too
// long. give gives it back.
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

// Pages serves by h, one answer after the other, and sends each as its reader
// takes it: a slow one holds up nobody.
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

// make makes an answer when it is its turn.
func (t turn) make(h http.Handler, r *http.Request) (*answer, error) {
	give, err := t.take(r.Context())
	if err != nil {
		return nil, err
	}
	defer give()
	return made(h, r)
}
