package sidecar_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// budgetConfig has a budget for 120 conversations an hour, and two thirds of it are used.
const budgetConfig = `
targets:
  - {name: chat, base_url: http://deployment/v1, model: m}
workloads:
  - {name: short, turns: {min: 1, max: 1}, prompt_tokens: 500, starters: 0, max_output_tokens: 50}
traffic:
  - {targets: [chat], workload: short, arrival: {process: constant, rate: 0.02}, burst_rate: 0, token_budget: 1600000/1d}
`

// TestImpossibleUsageCostsNothing has a server whose first answer claims more tokens than possible. The
// budget, which counts tokens, skips no conversation, and the totals contain the tokens that came.
func TestImpossibleUsageCostsNothing(t *testing.T) {
	const honest = `{"prompt_tokens":510,"completion_tokens":2}`
	for name, usage := range map[string]string{
		"output":          `{"prompt_tokens":510,"completion_tokens":99999999}`,
		"prompt":          `{"prompt_tokens":99999999,"completion_tokens":2}`,
		"cached, as well": `{"prompt_tokens":99999999,"completion_tokens":99999999,"prompt_tokens_details":{"cached_tokens":99999999}}`,
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Parse("synthetic.yml", []byte(budgetConfig), ".")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				answers, wire := 0, simulate.NewPipes()
				defer simulate.Serve(wire, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					said := honest
					if answers++; answers == 1 {
						said = usage
					}
					w.Header().Set("Content-Type", "text/event-stream")
					for _, text := range []string{`"delta":{"content":"Hello"}`, `"delta":{"content":" you"}`, `"delta":{},"finish_reason":"stop"`} {
						fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,%s}]}\n\n", text)
					}
					fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", said)
				}))()
				s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: wire.Dial})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Apply(cfg); err != nil {
					t.Fatal(err)
				}
				stop := stage.Run(t, s)
				time.Sleep(time.Hour)
				sum := func(family, reason string) (total float64) {
					for _, sample := range stage.Samples(t, s) {
						if sample.Labels.Get("__name__") == family && strings.Contains(sample.Labels.Get("reason"), reason) {
							total += sample.Value
						}
					}
					return total
				}
				turns := sum("synthetic_turns_total", "")
				if skipped := sum("synthetic_conversations_skipped_total", "budget"); skipped > 0 || turns < 70 {
					t.Errorf("%v turns, and %v conversations skipped", turns, skipped)
				}
				if n := sum("synthetic_usage_missing_total", "impossible"); n != 1 || sum("synthetic_usage_missing_total", "") != 1 {
					t.Errorf("%v turns with an impossible usage", n)
				}
				prompt, cached, output := sum("synthetic_prompt_tokens_total", ""), sum("synthetic_cached_prompt_tokens_total", ""), sum("synthetic_output_tokens_total", "")
				if prompt != 510*(turns-1) || cached != 0 || output != 2*turns {
					t.Errorf("%v prompt, %v cached and %v output tokens in %v turns", prompt, cached, output, turns)
				}
				stop()
			})
		})
	}
}
