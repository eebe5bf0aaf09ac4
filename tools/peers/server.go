//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"synthetic/tools/measured"
)

// Parameters of the random delays: the time to the first token, which is log-normal, and
// the time between two tokens, which is constant for a request.
const (
	firstMedian, firstSigma = 200 * time.Millisecond, 0.4
	paceLeast, paceMost     = 18 * time.Millisecond, 24 * time.Millisecond
	tokens                  = 64
)

// truth is a server that writes tokens at random times and records when it wrote the first and the last of a response.
type truth struct {
	mu   sync.Mutex
	rng  *rand.Rand
	seen []answer
	// unstamped counts the requests whose arrival the kernel did not tell.
	unstamped int
}

// answer holds the delays of one response.
type answer struct{ ttft, tpot time.Duration }

func newTruth() *truth {
	t := &truth{}
	t.reset(1)
	return t
}

// reset forgets the responses and restarts the random numbers.
func (t *truth) reset(seed uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen, t.unstamped, t.rng = nil, 0, rand.New(rand.NewPCG(1, seed))
}

func (t *truth) draw() (first, pace time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = time.Duration(float64(firstMedian) * math.Exp(firstSigma*t.rng.NormFloat64()))
	return first, paceLeast + time.Duration(t.rng.Int64N(int64(paceMost-paceLeast)))
}

// figures returns the quantiles of the last responses in ms, in the order of columns. Requests that a tool sends
// before its load are left out. interpolates is as in quantile.
func (t *truth) figures(requests int, interpolates bool) (out [5]float64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unstamped > 0 {
		return out, fmt.Errorf("the kernel did not say when %d requests arrived", t.unstamped)
	}
	if len(t.seen) < requests {
		return out, fmt.Errorf("the server has ended %d of %d responses", len(t.seen), requests)
	}
	var ttft, tpot []float64
	for _, a := range t.seen[len(t.seen)-requests:] {
		ttft, tpot = append(ttft, a.ttft.Seconds()*1000), append(tpot, a.tpot.Seconds()*1000)
	}
	slices.Sort(ttft)
	slices.Sort(tpot)
	for i, q := range []float64{0.5, 0.95, 0.99} {
		out[i] = quantile(ttft, q, interpolates)
	}
	out[3], out[4] = quantile(tpot, 0.5, interpolates), quantile(tpot, 0.95, interpolates)
	return out, nil
}

// quantile returns the nearest rank of sorted values, or interpolates.
func quantile(sorted []float64, q float64, interpolates bool) float64 {
	if !interpolates {
		return sorted[int(math.Ceil(q*float64(len(sorted))))-1]
	}
	return measured.Quantile(sorted, q)
}

// connectionKey is the context key of the *stamped on which a request arrived.
type connectionKey struct{}

func keepConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

func (t *truth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/v1/chat/completions":
		t.stream(r.Context(), w)
	case "/v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"truth","object":"model"}]}`)
	default: // health checks of the tools
		fmt.Fprint(w, `{}`)
	}
}

// stream writes a response and records its delays: the first token since the arrival of the request in the kernel, and the
// mean between two tokens.
func (t *truth) stream(ctx context.Context, w http.ResponseWriter) {
	arrived, ok := ctx.Value(connectionKey{}).(*stamped).arrival()
	if !ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.unstamped++
		http.Error(w, "the kernel did not say when this request arrived", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	first, pace := t.draw()
	var began, last time.Time
	for i := range tokens {
		time.Sleep(time.Until(arrived.Add(first + time.Duration(i)*pace)))
		if last = time.Now(); i == 0 { // before the write, which can let the client run first
			began = last
		}
		_, err := w.Write(chunk(i == tokens-1))
		if err != nil || out.Flush() != nil {
			return
		}
	}
	t.mu.Lock()
	t.seen = append(t.seen, answer{began.Sub(arrived), last.Sub(began) / (tokens - 1)})
	t.mu.Unlock()
	fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"truth\",\"choices\":[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens, tokens+16)
}

// chunk returns the event of a token.
func chunk(isLast bool) []byte {
	finish := "null"
	if isLast {
		finish = `"stop"`
	}
	return fmt.Appendf(nil, `data: {"id":"1","object":"chat.completion.chunk","created":1763600000,"model":"truth","choices":[{"index":0,"delta":{"role":"assistant","content":" word"},"finish_reason":%s}]}`+"\n\n", finish)
}
