package config

import (
	"fmt"

	"synthetic/internal/probe/workload"
)

// agent holds the means of an agent's conversations. Lengths are in tokens.
type agent struct {
	system, task, steps, maxSteps, result, context int
	// toolTime is in seconds.
	toolTime float64
}

// agents are the presets of workloads[].agent.
var agents = map[string]agent{
	"coding":   {system: 8000, task: 400, steps: 25, maxSteps: 60, result: 1200, toolTime: 3, context: 100_000},
	"research": {system: 4000, task: 300, steps: 12, maxSteps: 30, result: 3000, toolTime: 5, context: 60_000},
	"support":  {system: 2000, task: 150, steps: 8, maxSteps: 20, result: 400, toolTime: 1, context: 16_000},
}

// agent applies a preset to the keys that the workload at path does not have.
func (b *builder) agent(path, name string, s *workload.Spec) {
	a, found := agents[name]
	if !found || !b.Valid(path+".agent") {
		return
	}
	absent := func(keys ...string) bool {
		for _, key := range keys {
			if b.Has(path + "." + key) {
				return false
			}
		}
		return true
	}
	for _, d := range []struct {
		dist               **workload.Dist
		key, drawn         string
		mean, sd, min, max float64
	}{
		{&s.Prompt, "prompt_tokens", "prompt_tokens", float64(a.task), float64(a.task) / 2, 20, 5 * float64(a.task)},
		{&s.Followup, "followups", "followup_tokens", float64(a.result), 1.5 * float64(a.result), 20, 20_000},
		{&s.Output, "max_output_tokens", "output_tokens", 150, 150, 10, 1000},
		{&s.Turns, "turns", "turns", float64(a.steps), float64(a.steps) / 2, 2, float64(a.maxSteps)},
		{&s.Think, "think_time", "think_seconds", a.toolTime, a.toolTime, 0.1, 10 * a.toolTime},
	} {
		if absent(d.key, "distributions."+d.drawn) {
			*d.dist = &workload.Dist{Shape: workload.LogNormal, Mean: d.mean, SD: d.sd, Min: d.min, Max: d.max}
		}
	}
	if absent("system", "system_tokens") {
		s.SystemTokens = a.system
	}
	if absent("context_tokens") {
		s.ContextTokens = a.context
	}
	if absent("starters") {
		s.Starters = 0
	}
}

// firstTurnFits rejects a context that the first turn already exceeds. It needs the means of distributions.
func (b *builder) firstTurnFits(path string, s workload.Spec) {
	need := s.SystemTokens + s.PromptTokens + s.MaxOutputTokens
	if s.ContextTokens > 0 && s.ContextTokens < need {
		b.Mistake(path+".context_tokens", fmt.Sprint(s.ContextTokens), fmt.Sprintf("is less than the %d tokens of the first turn", need),
			fmt.Sprintf("write %d or more", need))
	}
}
