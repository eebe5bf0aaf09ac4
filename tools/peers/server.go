//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Parameters of the random delays: the time to the first token, which is log-normal, and
// the time between two tokens, which is constant for a request.
const (
	firstMedian, firstSigma = 200 * time.Millisecond, 0.4
	paceLeast, paceMost     = 18 * time.Millisecond, 24 * time.Millisecond
	tokens                  = 64
)

// truth is a server that writes tokens at random times and records when it wrote them.
type truth struct {
	mu   sync.Mutex
	rng  *rand.Rand
	seen []answer
}

// answer holds the delays of one response.
type answer struct{ ttft, tpot time.Duration }

func newTruth() *truth { return &truth{rng: rand.New(rand.NewPCG(1, 2))} }

// reset forgets the responses and restarts the random numbers.
func (t *truth) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen, t.rng = nil, rand.New(rand.NewPCG(1, 2))
}

func (t *truth) draw() (first, pace time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = time.Duration(float64(firstMedian) * math.Exp(firstSigma*t.rng.NormFloat64()))
	return first, paceLeast + time.Duration(t.rng.Int64N(int64(paceMost-paceLeast)))
}

// figures returns the quantiles of the last responses in ms, in the order of columns.
// Requests that a tool sends before its load are left out.
func (t *truth) figures(requests int) [5]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := t.seen[max(len(t.seen)-requests, 0):]
	quantile := func(delay func(answer) time.Duration, q float64) float64 {
		all := make([]time.Duration, len(answers))
		for i, a := range answers {
			all[i] = delay(a)
		}
		slices.Sort(all)
		if len(all) == 0 {
			return math.NaN()
		}
		return float64(all[min(int(math.Ceil(q*float64(len(all))))-1, len(all)-1)]) / float64(time.Millisecond)
	}
	ttft, tpot := func(a answer) time.Duration { return a.ttft }, func(a answer) time.Duration { return a.tpot }
	return [5]float64{quantile(ttft, 0.5), quantile(ttft, 0.95), quantile(ttft, 0.99), quantile(tpot, 0.5), quantile(tpot, 0.95)}
}

func (t *truth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/v1/chat/completions":
		t.stream(r.Context(), w, arrived)
	case "/v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"truth","object":"model"}]}`)
	default: // health checks of the tools
		fmt.Fprint(w, `{}`)
	}
}

// stream writes a response and records when each write returned.
func (t *truth) stream(ctx context.Context, w http.ResponseWriter, arrived time.Time) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	first, pace := t.draw()
	var began, last time.Time
	for i := range tokens {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(arrived.Add(first + time.Duration(i)*pace))):
		}
		fmt.Fprintf(w, "data: %s\n\n", chunk(i))
		if out.Flush() != nil {
			return
		}
		if last = time.Now(); i == 0 {
			began = last
		}
	}
	t.mu.Lock()
	t.seen = append(t.seen, answer{began.Sub(arrived), last.Sub(began) / (tokens - 1)})
	t.mu.Unlock()
	fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"truth\",\"choices\":[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens, tokens+16)
}

func chunk(i int) []byte {
	choice := map[string]any{"index": 0, "delta": map[string]string{"role": "assistant", "content": " word"}}
	if i == tokens-1 {
		choice["finish_reason"] = "stop"
	}
	data, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion.chunk", "model": "truth", "choices": []any{choice}}) // plain values cannot fail
	return data
}
