package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// Windows and limits of the regression alerts. They were chosen by replay;
// docs/background/alert-quality.md has the figures.
const (
	// slowWindow averages what a slow regression is judged by, shortWindow says
	// whether it lasts, and slowHold is for how long both must hold.
	slowWindow, shortWindow, slowHold = 30 * time.Minute, 5 * time.Minute, 10 * time.Minute
	// stillSlow is the part of the threshold, on the log scale, that the short
	// window must be above.
	stillSlow = 0.4
	// minSlow turns make a geometric mean.
	minSlow = 15

	// tailShare of the turns in the tail page, stillTail of them in the short
	// window keep it, and minTail turns are evidence.
	tailShare, stillTail, minTail = 0.06, 0.04, 10

	// cachedDrop is the part of the usual cached ratio below which it has
	// dropped; a usual ratio below minCached is nothing to lose.
	cachedDrop, minCached = 0.5, 0.1

	// keepRegression bridges a restart of the prober.
	keepRegression = 4 * time.Minute
)

// regressionRules compare the turns with their own baseline.
func (in Input) regressionRules() []rulefmt.Rule {
	rules := []rulefmt.Rule{
		record(RecordGeomean(slowWindow), geomean(slowWindow, minSlow)),
		record(RecordGeomean(shortWindow), geomean(shortWindow, 1)),
		record(RecordSlowThreshold, slowThreshold()),
		record(RecordCachedRatio, ratio(
			matchers{}.increase(perTurn(), metrics.CachedPromptTokens, slowWindow),
			matchers{}.increase(perTurn(), metrics.CacheKnownPrompt, slowWindow))),
		record(RecordPrefill, prefill()),
		record(RecordQueue, queue()),
	}
	tails := in.tails()
	seen := map[time.Duration]bool{}
	for _, g := range tails {
		for _, w := range []time.Duration{g.key, stillWindow(g)} {
			if !seen[w] {
				rules = append(rules, record(RecordTailShare(w), tailRatio(w)))
			}
			seen[w] = true
		}
	}
	alerts := []alert{fastRegression(), slowRegression()}
	for _, g := range tails {
		alerts = append(alerts, tailRegression(g))
	}
	return append(rules, in.rules(append(alerts, cachedRatioDrop())...)...)
}

// geomean is the geometric mean of the ratio to the baseline, exact from the
// counters of logarithms, where there were at least so many turns.
func geomean(window time.Duration, least int) string {
	sum := func(metric string) string { return matchers{}.increase(perSignal(), metric, window) }
	return fmt.Sprintf("2 ^ (\n  (\n    %s\n    -\n    %s\n  )\n  /\n  (%s >= %d)\n)",
		sum(metrics.SignalLog2), sum(metrics.SignalBaselineLog2), sum(metrics.SignalTurns), least)
}

// slowThreshold is the ratio from which on a level is no noise any more. A
// young baseline has no noise: the floor stands.
func slowThreshold() string {
	return fmt.Sprintf("clamp_min(exp(%s * (\n  %s >= 0\n  or\n  %s * 0\n)), %s)", num(regression.SlowNoise),
		maxBy(perSignal(), metrics.BaselineNoise), maxBy(perSignal(), metrics.BaselineYoung+" == 1"), num(regression.SlowFloor))
}

func tailRatio(window time.Duration) string {
	return ratio(matchers{}.rate(perSignal(), metrics.SignalTail, window), matchers{}.rate(perSignal(), metrics.SignalTurns, window))
}

// beyondLimit is true while the CUSUM of any replica is at its limit or over.
func beyondLimit() string {
	return maxBy(perSignal(), metrics.Cusum+" >= "+metrics.CusumLimit)
}

func fastRegression() alert {
	return alert{
		name: AlertFastRegression, severity: slo.Page, keep: keepRegression,
		expr:        beyondLimit(),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: {{ $labels.signal }} of {{ $labels.turn }} turns jumped to " + times(shortWindow) + " its baseline",
		description: "The cumulative sum of ln({{ $labels.signal }} / baseline) is {{ $value | printf \"%.2f\" }} log minutes, its limit " + limit() + ". " + comparison(shortWindow) + " " + likelyPart(),
		turns:       perTurn(),
		windows:     "Fires when the sum of the log ratio, less an allowance of at most 0.4, reaches its limit: 3 times the baseline takes 2 minutes, 2 times 5 minutes. Less than 1.5 times does only where the level is steady; elsewhere SyntheticSlowRegression is for that.",
		dashboard:   dashboardTarget,
	}
}

// slowRegression leaves to fastRegression what that says already. It comes in
// two ways: at once, as a step above the recent level, or by degrees.
func slowRegression() alert {
	return alert{
		name: AlertSlowRegression, severity: slo.Page, keep: keepRegression,
		expr:    fmt.Sprintf("(\n%s\n  or\n%s\n)\nunless\n%s", lastingLevel(), stepped(), beyondLimit()),
		summary: "{{ $labels.target }}/{{ $labels.workload }}: {{ $labels.signal }} of {{ $labels.turn }} turns is {{ $value | printf \"%.2f\" }} times its baseline",
		description: "The level is {{ $value | printf \"%.2f\" }} times the baseline, which its noise does not explain. The rise above the recent level is at " +
			one(metrics.Step, "%.2f") + " of its limit; the geometric mean over 30m is " + times(slowWindow) + " the baseline, its threshold " + threshold() + " times. " +
			comparison(shortWindow) + " " + likelyPart(),
		turns:     perTurn(),
		windows:   "Fires when the sum of the rise above the level of the last quarter of an hour reaches its limit, or when the 30m geometric mean is above max(1.2, e^(" + num(regression.SlowNoise) + " × level noise)) times the baseline for " + slo.Short(slowHold) + ".",
		dashboard: dashboardTarget,
	}
}

// lastingLevel waits for min_over_time and not for a "for", which a single low
// value would start anew after the short window has already held it back. The
// minimum of the seconds that a new process has is no minimum of the hold, so
// the level must have been known at its beginning.
func lastingLevel() string {
	hold := slo.Short(slowHold)
	return fmt.Sprintf("  min_over_time(%s[%s]) > %s\n  and\n  min_over_time(%s[%s]) > %s ^ %s\n  and\n  %s offset %s",
		RecordGeomean(slowWindow), hold, RecordSlowThreshold,
		RecordGeomean(shortWindow), hold, RecordSlowThreshold, num(stillSlow), RecordGeomean(slowWindow), hold)
}

// stepped shows the level of what took a step.
func stepped() string {
	return fmt.Sprintf("  %s\n  and\n  %s", RecordGeomean(shortWindow), maxBy(perSignal(), metrics.Step+" >= 1"))
}

// tails groups the jobs by the window in which a share of tailShare brings
// minTail turns.
func (in Input) tails() []group[time.Duration] {
	return partition(in.Jobs, func(j Job) time.Duration {
		if j.outagePerMinute() <= 0 {
			return slowWindow
		}
		minutes := min(minTail/(tailShare*j.outagePerMinute()), 24*60)
		return slo.WindowAtLeast(max(slowWindow, time.Duration(minutes*float64(time.Minute))))
	})
}

// stillWindow is the short window of a group of tails: whether the fault lasts.
func stillWindow(g group[time.Duration]) time.Duration { return g.key / 6 }

func tailRegression(g group[time.Duration]) alert {
	window, short := g.key, stillWindow(g)
	return alert{
		name: AlertTailRegression, severity: slo.Page, keep: keepRegression,
		expr: fmt.Sprintf("(\n  %s > %s\n  and\n  %s > %s\n  and\n  %s >= %d\n)\nunless\n%s",
			g.matchers.on(RecordTailShare(window)), num(tailShare),
			g.matchers.on(RecordTailShare(short)), num(stillTail),
			g.matchers.increase(perSignal(), metrics.SignalTail, window), minTail, beyondLimit()),
		summary: "{{ $labels.target }}/{{ $labels.workload }}: {{ $value | humanizePercentage }} of {{ $labels.turn }} turns have a {{ $labels.signal }} far above the usual",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the turns of the last %s took longer than %s s, which hardly any turn does. ",
			slo.Short(window), one(metrics.TailLimit, "%.3g")) + comparison(slowWindow) + " " + likelyPart(),
		turns:     perTurn(),
		windows:   fmt.Sprintf("Fires at %s %% of turns over %s and %s %% over %s, at least %d turns.", percent(tailShare), slo.Short(window), percent(stillTail), slo.Short(short), minTail),
		dashboard: dashboardTarget,
	}
}

// cachedRatioDrop is a ticket: what it costs a user shows in the TTFT.
func cachedRatioDrop() alert {
	return alert{
		name: AlertCachedRatioDrop, severity: slo.Ticket, wait: 10 * time.Minute, keep: 15 * time.Minute,
		expr: fmt.Sprintf("%s\n<\n%s * %s\nand\n%s >= %d", RecordCachedRatio, num(cachedDrop),
			maxBy(perTurn(), metrics.CachedBaseline+" > "+num(minCached)),
			matchers{}.increase(perTurn(), metrics.Turns, slowWindow), minSlow),
		summary: "{{ $labels.target }}/{{ $labels.workload }}: only {{ $value | humanizePercentage }} of the prompt tokens of {{ $labels.turn }} turns are cached",
		description: "The prefix cache served {{ $value | humanizePercentage }} of the prompt tokens of the last 30m; at this time of day " +
			queried(fmt.Sprintf("max(%s{%s})", metrics.CachedBaseline, same(perTurn())), "value | humanizePercentage") + " is usual.",
		turns:     perTurn(),
		dashboard: dashboardTarget,
	}
}

// spread is the least standard deviation of the uncached prompt tokens, as a
// part of their mean, that a line can be drawn through: 0.1, squared.
const spread = 0.01

// lineSum is one of the sums of the line, over the slow window.
func lineSum(metric string) string { return matchers{}.increase(perTurn(), metric, slowWindow) }

// prefill is the slope of the least-squares line of the TTFT over the uncached
// prompt tokens: (nΣut − ΣuΣt) / (nΣu² − (Σu)²), where the tokens vary enough.
func prefill() string {
	n, u, t := lineSum(metrics.PrefillTurns), lineSum(metrics.PrefillUncached), lineSum(metrics.PrefillTime)
	variance := fmt.Sprintf("(\n  %s * %s\n  -\n  %s ^ 2\n)", n, lineSum(metrics.PrefillSquared), u)
	return fmt.Sprintf("(\n  %s * %s\n  -\n  %s * %s\n)\n/\n(%s > %s * %s ^ 2)\nand\n%s >= %d",
		n, lineSum(metrics.PrefillProduct), u, t, variance, num(spread), u, n, 2*minSlow)
}

// queue is the line's value without uncached tokens: (Σt − slope Σu) / n.
func queue() string {
	return fmt.Sprintf("(\n  %s\n  -\n  %s * %s\n)\n/\n%s",
		lineSum(metrics.PrefillTime), RecordPrefill, lineSum(metrics.PrefillUncached), lineSum(metrics.PrefillTurns))
}
