package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// times makes turns take a multiple of the usual time to first token.
func times(factor float64) behaviour {
	return with(ok, func(r *probe.Result) { r.TTFT = probe.Some(time.Duration(factor * float64(200*time.Millisecond))) })
}

// slowDecode makes tokens come at a multiple of their usual distance.
func slowDecode(factor float64) behaviour {
	return with(ok, func(r *probe.Result) { r.TPOT = probe.Some(time.Duration(factor * float64(20*time.Millisecond))) })
}

// cachedBy serves a share of the prompt from the prefix cache.
func cachedBy(tokens int) behaviour {
	return with(ok, func(r *probe.Result) { r.CachedTokens = probe.Some(tokens) })
}

// regressionScenarios compare with a baseline of two days.
func regressionScenarios() []scenario {
	const (
		fastFirst    = rules.AlertFastRegression + " a chat first"
		fastFollowup = rules.AlertFastRegression + " a chat followup"
		slowFirst    = rules.AlertSlowRegression + " a chat first"
		slowFollowup = rules.AlertSlowRegression + " a chat followup"
		tailFirst    = rules.AlertTailRegression + " a chat first"
		tailFollowup = rules.AlertTailRegression + " a chat followup"
		cachedFirst  = rules.AlertCachedRatioDrop + " a chat first"
		cachedMore   = rules.AlertCachedRatioDrop + " a chat followup"
		exhausted    = rules.AlertBudgetExhausted + " a chat ttft"
	)
	learned := step{after: 49 * time.Hour}
	return []scenario{
		{name: "twice the baseline is fast", regressions: true, steps: []step{
			learned,
			{do: behaving(times(2)), after: 12 * time.Minute, want: []string{fastFirst, fastFollowup}},
			{do: behaving(ok), after: 25 * time.Minute},
		}},
		{name: "slower tokens are a regression of their own", regressions: true, steps: []step{
			learned,
			{do: behaving(slowDecode(2)), after: 12 * time.Minute, want: []string{fastFirst, fastFollowup}},
			{do: behaving(ok), after: 25 * time.Minute},
		}},
		{name: "below a young baseline's objective nothing fires", regressions: true, steps: []step{
			{after: 3 * time.Hour},
			{do: behaving(times(2)), after: time.Hour},
		}},
		{name: "beyond a young baseline's objective it does", regressions: true, in: withSLOs(ttft), steps: []step{
			{after: 3 * time.Hour},
			{do: behaving(times(15)), after: 5 * time.Minute, want: []string{fastFirst, fastFollowup, slowBurn}},
		}},
		{name: "a level a little higher is slow", regressions: true, steps: []step{
			learned,
			// The script's level has no noise at all, so its allowance is small:
			// 1.3 times would be fast.
			{do: behaving(times(1.22)), after: 55 * time.Minute, want: []string{fastFirst, fastFollowup}},
			{do: behaving(ok), after: 50 * time.Minute},
		}},
		{name: "a few turns far slower are a tail", regressions: true, steps: []step{
			learned,
			{do: behaving(oneIn(8, times(4), ok)), after: 30 * time.Minute, want: []string{tailFirst, tailFollowup}},
			{do: behaving(ok), after: 40 * time.Minute},
		}},
		{name: "a tenth slower is nothing", regressions: true, steps: []step{
			learned,
			{do: behaving(times(1.1)), after: 2 * time.Hour},
		}},
		{name: "the prefix cache is lost", regressions: true, steps: []step{
			{do: behaving(cachedBy(80)), after: 49 * time.Hour},
			{do: behaving(cachedBy(10)), after: 45 * time.Minute, want: []string{cachedFirst, cachedMore}},
			{do: behaving(cachedBy(80)), after: time.Hour},
		}},
		{name: "a server that does not say what is cached has lost nothing", regressions: true, steps: []step{
			{do: behaving(cachedBy(80)), after: 49 * time.Hour},
			{do: behaving(ok), after: time.Hour},
		}},
		{name: "a prober that restarts within a regression", regressions: true, steps: []step{
			learned,
			{do: behaving(times(2)), after: 12 * time.Minute, want: []string{fastFirst, fastFollowup}},
			{do: all(func(p *prober) {
				state := p.recorder.Baselines()
				p.restart()
				p.recorder.RestoreBaselines(state)
				p.apply(p.configured)
			}), after: 5 * time.Minute, want: []string{fastFirst, fastFollowup}},
		}},
		{name: "a prober that dies within a regression", regressions: true, steps: []step{
			learned,
			{do: behaving(times(2)), after: 12 * time.Minute, want: []string{fastFirst, fastFollowup}},
			{do: all(func(p *prober) { p.down = true }), after: 15 * time.Minute, want: []string{rules.AlertProberSilent}},
		}},
		{name: "the whole budget is spent", in: weekly, recorded: true, steps: []step{
			{after: 6 * time.Hour},
			{do: behaving(slow), after: 4 * time.Hour, want: []string{exhausted, fastBurn, slowBurn}},
		}},
		{name: "slow comes before fast where the level is noisy", regressions: true, steps: []step{
			{do: behaving(noisy(1)), after: 49 * time.Hour},
			{do: behaving(noisy(1.33)), after: 55 * time.Minute, want: []string{slowFirst, slowFollowup}},
			{do: behaving(noisy(1)), after: time.Hour},
		}},
	}
}

// weekly is usual with an SLO of a week, whose budget an afternoon can spend.
func weekly() rules.Input {
	o := ttft
	o.Window = 7 * day
	return withSLOs(o)()
}

// noisy turns have a level that changes by the half hour.
func noisy(factor float64) behaviour {
	return func(n int, kind probe.TurnKind) probe.Result {
		level := [...]float64{0.95, 1.06, 0.94, 1.05, 1.04, 0.96}[n/360%6]
		return times(factor*level)(n, kind)
	}
}
