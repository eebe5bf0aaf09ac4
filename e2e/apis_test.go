//go:build e2e

package e2e

import (
	"fmt"
	"testing"
)

// TestLlamaServerAPIs holds a conversation over each API of llama-server and compares its
// tokens with the server's counts.
func TestLlamaServerAPIs(t *testing.T) {
	const turns, output = 4, 24
	s := startLlamaServer(t)
	for _, api := range []string{"chat", "completions", "responses", "messages"} {
		t.Run(api, func(t *testing.T) {
			before := scrape(t, s.root+"/metrics")
			r := probeAll(t, 1, s.api(), turns, "--api="+api, "--prompt-tokens=200", fmt.Sprintf("--max-output-tokens=%d", output))[0]
			after := scrape(t, s.root+"/metrics")
			grown := func(name string) (n float64) { return after.sum(name, nil) - before.sum(name, nil) }
			var prompt, cachedTokens float64
			for i, turn := range r.Turns {
				if *turn.OutputTokens != output {
					t.Errorf("turn %d: %d output tokens, want %d: the model never ends by itself", i+1, *turn.OutputTokens, output)
				}
				if i > 0 && *turn.PromptTokens < *r.Turns[i-1].PromptTokens+output {
					t.Errorf("turn %d: a prompt of %d tokens after one of %d and an answer of %d", i+1, *turn.PromptTokens, *r.Turns[i-1].PromptTokens, output)
				}
				prompt += float64(*turn.PromptTokens)
				cachedTokens += float64(*turn.CachedTokens)
			}
			if got, want := cachedTokens, grown("llamacpp:prompt_tokens_cached_total"); got != want {
				t.Errorf("the client counted %v cached tokens, the server %v", got, want)
			}
			if got, want := prompt-cachedTokens, grown("llamacpp:prompt_tokens_total"); got != want {
				t.Errorf("the client counted %v prompt tokens that were not cached, the server %v", got, want)
			}
			if got, want := float64(turns*output), grown("llamacpp:tokens_predicted_total"); got != want {
				t.Errorf("the client counted %v output tokens, the server %v", got, want)
			}
		})
	}
}

// toolsConfiguration has a workload that calls a tool and reads its result, and a workload
// whose answers are JSON. The texts of the random model are limited, so that an answer ends
// before its limit and is checked.
const toolsConfiguration = `
targets:
  - {name: llama, base_url: %[1]q}
workloads:
  - name: tools
    turns: {min: 2, max: 2}
    prompt_tokens: 50
    followups: {tokens: 20}
    max_output_tokens: 400
    temperature: 0
    tool_choice: required
    tools:
      - name: get_weather
        parameters: %[2]s
        result: '{"celsius": 21}'
  - name: json
    turns: {min: 1, max: 1}
    prompt_tokens: 50
    max_output_tokens: 400
    temperature: 0
    response_schema: %[2]s
traffic:
  - {workload: tools, arrival: {process: constant, rate: 0.5}}
  - {workload: json, arrival: {process: constant, rate: 0.5}}
`

// placeSchema permits only a few answers.
const placeSchema = `{type: object, properties: {city: {type: string, enum: [Oslo, Lisbon]}, sunny: {type: boolean}}, required: [city, sunny], additionalProperties: false}`

// TestLlamaServerToolsAndSchemas: llama-server restricts the model to valid calls and valid
// JSON, and the sidecar finds no fault in them.
func TestLlamaServerToolsAndSchemas(t *testing.T) {
	s := startLlamaServer(t, "--chat-template-file", "testdata/tools.jinja")
	c := startConfigured(t, fmt.Sprintf(toolsConfiguration, s.api(), placeSchema))
	c.awaitTurns(t, 8)
	m := c.metrics(t)
	for _, workload := range []string{"tools", "json"} {
		if n := m.sum("synthetic_turns_total", map[string]string{"workload": workload}); n < 2 {
			t.Errorf("%v turns of the workload %s", n, workload)
		}
	}
	for _, f := range m["synthetic_turn_failures_total"].GetMetric() {
		if f.Counter.GetValue() > 0 {
			t.Errorf("failed turns: %v", f)
		}
	}
}
