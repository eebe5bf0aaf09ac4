package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
)

// TestContextCut converses with a server that drops history above its context and answers 200.
func TestContextCut(t *testing.T) {
	prompts := []int{3629, 4029, 833, 1233}
	asked := 0
	addr := handle(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "%s%sdata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\n%s", hello, finish, prompts[asked], done)
		asked++
	}))
	results, _ := converse(t.Context(), t, options(addr), len(prompts))
	for i, r := range results {
		if r.ContextCut() != (i == 2) || r.PromptTokens.V != prompts[i] {
			t.Errorf("turn %d of %v tokens: context cut is %v", i+1, r.PromptTokens, r.ContextCut())
		}
	}
	if len(results) != len(prompts) {
		t.Errorf("%d turns", len(results))
	}
}
