package probe_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// TestAUserLeaves checks that the connection is closed in every phase of a turn, and that the
// server notices.
func TestAUserLeaves(t *testing.T) {
	for name, begin := range map[string]func(w http.ResponseWriter){
		"before the headers": func(http.ResponseWriter) {},
		"before a token":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"in mid-stream": func(w http.ResponseWriter) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}]}\n\n")
		},
	} {
		for _, connection := range []target.Connection{target.Reuse, target.PerConversation} {
			t.Run(name+", "+string(connection), func(t *testing.T) {
				closed := make(chan error, 1)
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					begin(w)
					_ = http.NewResponseController(w).Flush()
					select {
					case <-r.Context().Done():
						closed <- nil
					case <-time.After(30 * time.Second):
						closed <- errors.New("the server waits for a user who has left")
					}
				}))
				defer s.Close()
				o := options(s.Listener.Addr().String())
				o.Target.Connection = connection
				leaves := plan(3)
				leaves.Conversation.Patience = []time.Duration{100 * time.Millisecond, 0, 0}
				results, sum := follow(t.Context(), t, o, leaves)
				if err := <-closed; err != nil {
					t.Error(err)
				}
				r := results[0]
				if sum.Outcome != probe.UserCanceled || len(results) != 1 || r.Outcome != probe.UserCanceled || r.Outcome.Failed() || r.Err == "" {
					t.Errorf("conversation %+v, turn %s: %q", sum, r.Outcome, r.Err)
				}
				if r.Duration() < 100*time.Millisecond || r.TTFT.OK != (name == "in mid-stream") {
					t.Errorf("the turn took %s, TTFT %v", r.Duration(), r.TTFT)
				}
			})
		}
	}
}

// TestLimitsOfTurns checks that a turn uses the token limit of the conversation, or else that of
// the workload.
func TestLimitsOfTurns(t *testing.T) {
	s := serve(t, func(int, request) []string { return []string{text("so"), ended("stop")} })
	o := options(s.addr)
	o.Workload.MaxOutputTokens = 77
	varied := plan(4)
	varied.Conversation.Outputs = []int{5, 0, 900}
	_, sum := follow(t.Context(), t, o, varied)
	var got []int
	for _, a := range s.requests() {
		got = append(got, a.MaxTokens)
	}
	if sum.Outcome != probe.Success || !slices.Equal(got, []int{5, 77, 900, 77}) {
		t.Errorf("%s, asked for %d tokens", sum.Outcome, got)
	}
}
