package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestContextCut converses with servers that answer 200. Only the first one drops history above its context; the
// prompts of the others fall for other reasons.
func TestContextCut(t *testing.T) {
	reasoned := func(prompt, reasoning int) string {
		return fmt.Sprintf(`{"choices":[{"delta":{"reasoning":"Hm."}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`,
			prompt, reasoning+1, reasoning)
	}
	for name, tc := range map[string]struct {
		turns []string
		cut   int // the turn with a cut context; 0 if none
	}{
		"a cut": {[]string{
			`{"usage":{"prompt_tokens":3629}}`, `{"usage":{"prompt_tokens":4029}}`, `{"usage":{"prompt_tokens":833}}`, `{"usage":{"prompt_tokens":1233}}`}, 3},
		"another model": {[]string{
			`{"usage":{"prompt_tokens":400}}`, `{"model":"other","usage":{"prompt_tokens":300}}`, `{"usage":{"prompt_tokens":900}}`, `{"model":"other","usage":{"prompt_tokens":700}}`, `{"usage":{"prompt_tokens":600}}`}, 0},
		"cached tokens beside the prompt": {[]string{
			`{"usage":{"prompt_tokens":400,"cached_tokens":0}}`, `{"usage":{"prompt_tokens":100,"cached_tokens":400}}`, `{"usage":{"prompt_tokens":90,"cached_tokens":500}}`}, 0},
		"reasoning that the template drops": {[]string{reasoned(400, 300), reasoned(750, 10), reasoned(480, 10)}, 0},
		"a cut despite reasoning":           {[]string{reasoned(400, 100), reasoned(550, 10), reasoned(430, 10)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			addr := handle(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = fmt.Fprintf(w, "data: %s\n\n%s%s%s", tc.turns[asked], hello, finish, done)
				asked++
			}))
			o := options(addr)
			o.Workload.Reasoning = workload.Echo
			results, _ := converse(t.Context(), t, o, len(tc.turns))
			for i, r := range results {
				if r.Outcome != probe.Success || r.ContextCut() != (i+1 == tc.cut) || !r.PromptTokens.OK {
					t.Errorf("turn %d of %v tokens after %d: %s, context cut is %v", i+1, r.PromptTokens, r.PreviousPrompt, r.Outcome, r.ContextCut())
				}
			}
			if len(results) != len(tc.turns) {
				t.Errorf("%d turns", len(results))
			}
		})
	}
}
