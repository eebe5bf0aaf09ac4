package httplimit

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
)

var errTooLong = errors.New("rendering the answer takes too long")

// answer is an http.ResponseWriter that keeps what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	start  time.Time
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write fails after renderTimeout, which ends a handler that checks errors.
func (a *answer) Write(p []byte) (int, error) {
	if time.Since(a.start) > renderTimeout {
		return 0, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func render(h http.Handler, r *http.Request) (*answer, error) {
	a := &answer{header: http.Header{}, start: time.Now()}
	h.ServeHTTP(a, r)
	if time.Since(a.start) > renderTimeout {
		return nil, errTooLong
	}
	a.WriteHeader(http.StatusOK)
	return a, nil
}

// send sends the answer within sendTimeout. Errors mean that the client has gone.
func (a *answer) send(w http.ResponseWriter) {
	// If it fails, the deadline of the server applies.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTimeout))
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// Pages serves the answers of h. It renders one answer at a time and sends each at the speed of its
// client, so that a slow client does not delay others.
func Pages(h http.Handler) http.Handler {
	return oneAtATime(func(r *http.Request) (*answer, error) { return render(h, r) })
}

// oneAtATime sends the answers of page, which it never calls concurrently.
func oneAtATime(page func(*http.Request) (*answer, error)) http.HandlerFunc {
	lock := semaphore.NewWeighted(1)
	locked := func(r *http.Request) (*answer, error) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), renderTimeout, errTooLong)
		defer cancel()
		if lock.Acquire(ctx, 1) != nil {
			return nil, context.Cause(ctx)
		}
		defer lock.Release(1)
		return page(r)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := locked(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		a.send(w)
	}
}
