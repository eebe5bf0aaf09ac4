package config

import (
	"fmt"
	"math"
	"testing"

	"synthetic/internal/probe/workload"
)

// TestAgents compares the conversations of each preset with its table, with their expected tokens and with
// the bound of their context.
func TestAgents(t *testing.T) {
	for name, a := range agents {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("x.yml", fmt.Appendf(nil, "targets: [{base_url: \"http://a:8000\"}]\nworkloads: [{agent: %s}]", name), ".")
			if err != nil {
				t.Fatal(err)
			}
			spec := cfg.Jobs[0].Workload
			s, err := workload.NewSource(spec, 3)
			if err != nil {
				t.Fatal(err)
			}
			for range 15 {
				s.Learn(1000, 1000) // a character per token, so that the texts are short
			}
			const n = 500
			var sum, steps, results, resultTokens float64
			systems := map[string]bool{}
			for range n {
				c := s.Next()
				systems[c.Opening[0].Content] = true
				last := s.EstimatePrompt(c, c.Turns) + c.Outputs[c.Turns-1]
				if last > a.context || c.Turns > a.maxSteps || len(c.Followups) != c.Turns-1 || len(c.Outputs) != c.Turns {
					t.Fatalf("%d turns, %d follow-ups, %d limits, a context of %d", c.Turns, len(c.Followups), len(c.Outputs), last)
				}
				sum, steps, results = sum+float64(s.Estimate(c)), steps+float64(c.Turns), results+float64(len(c.Followups))
				for _, f := range c.Followups {
					resultTokens += float64(len(f))
				}
			}
			for what, pair := range map[string][2]float64{
				"tokens":         {cfg.Jobs[0].Footprint.Conversation.Sum(), sum / n},
				"steps":          {float64(a.steps), steps / n},
				"tool output":    {float64(a.result), resultTokens / results},
				"system message": {float64(a.system), float64(s.EstimatePrompt(workload.Conversation{CharsOpening: length(systems)}, 1))},
			} {
				if math.Abs(pair[0]/pair[1]-1) > 0.1 {
					t.Errorf("%s: expected %.0f, planned %.0f", what, pair[0], pair[1])
				}
			}
		})
	}
}

// length returns the length of the only text.
func length(texts map[string]bool) int {
	for text := range texts {
		if len(texts) == 1 {
			return len(text)
		}
	}
	return 0
}
