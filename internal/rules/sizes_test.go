package rules_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// prompts returns turns with 1,000 cached prompt tokens and so many others, whose first token takes 200 ms and
// a time for each 1,000 of the others.
func prompts(uncached int, perThousand time.Duration) behaviour {
	return with(ok, func(r *probe.Result) {
		r.PromptTokens, r.CachedTokens = probe.Some(1000+uncached), probe.Some(1000)
		r.TTFT = probe.Some(200*time.Millisecond + time.Duration(uncached/1000)*perThousand)
	})
}

// TestSizesOfPrompts moves the prompts of a healthy deployment from 2k to 60k tokens, then slows its prefill.
func TestSizesOfPrompts(t *testing.T) {
	const ms = time.Millisecond
	line, short := ttft, ttft
	line.Threshold, line.PerThousand = 300*ms, 60*ms
	short.Name, short.Threshold, short.Uncached = "short", 500*ms, slo.Tokens{Below: 4000}
	small, mixed := prompts(2000, 40*ms), oneIn(2, prompts(60_000, 40*ms), prompts(2000, 40*ms))
	for _, s := range []scenario{
		{name: "a plain threshold pages for long prompts", in: withSLOs(ttft), steps: []step{
			{do: behaving(small), after: 2 * time.Hour},
			{do: behaving(mixed), after: 20 * time.Minute, want: []string{fastBurn, slowBurn}},
		}},
		{name: "a line pages for slow prefill alone", in: withSLOs(line), steps: []step{
			{do: behaving(small), after: 2 * time.Hour},
			{do: behaving(mixed), after: 2 * time.Hour},
			{do: behaving(prompts(60_000, 40*ms)), after: 2 * time.Hour},
			{do: behaving(oneIn(2, prompts(60_000, 80*ms), small)), after: 20 * time.Minute, want: []string{fastBurn}},
			{do: behaving(mixed), after: time.Hour},
		}},
		{name: "a class without turns is no fault", in: withSLOs(short), steps: []step{
			{do: behaving(small), after: 2 * time.Hour},
			{do: behaving(mixed), after: 2 * time.Hour},
			{do: behaving(prompts(60_000, 80*ms)), after: 3 * time.Hour},
			{do: behaving(oneIn(2, prompts(60_000, 40*ms), prompts(2000, 200*ms))), after: 20 * time.Minute, want: []string{rules.AlertSLOFastBurn + " a chat short"}},
			{do: behaving(mixed), after: time.Hour},
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() && s.name != "a class without turns is no fault" {
				t.Skip("make test-long runs it")
			}
			s.play(t)
		})
	}
}
