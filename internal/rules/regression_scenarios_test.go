package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// cachedBy makes the prefix cache serve a share of the prompt.
func cachedBy(tokens int) behaviour {
	return with(ok, func(r *probe.Result) { r.CachedTokens = probe.Some(tokens) })
}

// regressionScenarios compare with a baseline of two days. The prober computes the scores; incident_test.go
// tests the rules for them.
func regressionScenarios() []scenario {
	const (
		cachedFirst = rules.AlertCachedRatioDrop + " a chat first"
		cachedMore  = rules.AlertCachedRatioDrop + " a chat followup"
	)
	return []scenario{
		{name: "the prefix cache is lost", regressions: true, steps: []step{
			{do: behaving(cachedBy(80)), after: 49 * time.Hour},
			{do: behaving(cachedBy(10)), after: 45 * time.Minute, want: []string{cachedFirst, cachedMore}},
			{do: behaving(cachedBy(80)), after: time.Hour},
		}},
		{name: "a server that does not say what is cached has lost nothing", regressions: true, steps: []step{
			{do: behaving(cachedBy(80)), after: 49 * time.Hour},
			{do: behaving(ok), after: time.Hour},
		}},
	}
}
