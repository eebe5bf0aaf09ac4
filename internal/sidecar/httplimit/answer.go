package httplimit

import (
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
	body   pieces
	start  time.Time
}

// pieces is a text in parts. A bytes.Buffer would copy a scrape of 24 MB into ever larger arrays, which together
// take twice its size.
type pieces struct {
	all  [][]byte
	size int
}

const firstPiece, largestPiece = 8 << 10, 256 << 10

func (p *pieces) add(b []byte) {
	p.size += len(b)
	for len(b) > 0 {
		last := len(p.all) - 1
		if last < 0 || len(p.all[last]) == cap(p.all[last]) {
			p.all = append(p.all, make([]byte, 0, min(max(p.size, firstPiece), largestPiece)))
			last++
		}
		n := min(len(b), cap(p.all[last])-len(p.all[last]))
		p.all[last], b = append(p.all[last], b[:n]...), b[n:]
	}
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
	a.body.add(p)
	return len(p), nil
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
	w.Header().Set("Content-Length", strconv.Itoa(a.body.size))
	w.WriteHeader(a.status)
	for _, piece := range a.body.all {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
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
