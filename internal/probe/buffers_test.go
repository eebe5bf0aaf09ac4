package probe_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"synthetic/internal/probe"
)

// TestBuffersOfTurnsAreSeparate: turns use the buffers of earlier turns again, but no answer and no gap of one turn
// appears in another, also if the result is kept.
func TestBuffersOfTurnsAreSeparate(t *testing.T) {
	const conversations, turns = 8, 10
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := count.Add(1)
		for range tokensOf(n) {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"%d "}}]}`+"\n\n", n)
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, finish, done)
	}))
	defer server.Close()
	var all sync.WaitGroup
	kept := make([][]probe.Result, conversations)
	for i := range kept {
		all.Go(func() { kept[i], _ = converse(t.Context(), t, options(server.Listener.Addr().String()), turns) })
	}
	all.Wait()
	seen := map[int64]bool{}
	for _, results := range kept {
		for _, r := range results {
			var n int64
			if _, err := fmt.Sscan(r.Answer, &n); err != nil || r.Outcome != probe.Success || seen[n] {
				t.Fatalf("the answer %q, seen before: %t (%v %s)", r.Answer, seen[n], err, r.Err)
			}
			seen[n] = true
			if want := strings.Repeat(fmt.Sprint(n, " "), tokensOf(n)); r.Answer != want || r.Events != tokensOf(n) {
				t.Errorf("turn %d: got %q, %d events, want %q", n, r.Answer, r.Events, want)
			}
			if r.Gaps != nil && len(r.Gaps) != tokensOf(n)-1 {
				t.Errorf("turn %d: %d gaps of %d tokens", n, len(r.Gaps), tokensOf(n))
			}
		}
	}
	if len(seen) != conversations*turns {
		t.Errorf("%d turns, want %d", len(seen), conversations*turns)
	}
}

// tokensOf varies the lengths of the answers.
func tokensOf(n int64) int { return 2 + int(n*7%40) }
