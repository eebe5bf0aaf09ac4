package rules_test

import (
	"math"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// one is a fault of a single series.
func one(s series) []series { return []series{s} }

func sixfoldObjectives() []sixfold {
	bad := func(perMinute float64) []series { return one(counter(metrics.SLOViolations, perMinute, judged()...)) }
	return []sixfold{
		{
			alert: rules.AlertSLOFastBurn, fault: bad(12), almost: bad(0.6),
			lead: time.Hour, fires: 10 * time.Minute, resolves: 50 * time.Minute,
		},
		{
			alert: rules.AlertSLOSlowBurn, fault: bad(0.6), almost: bad(0.1),
			lead: time.Hour, fires: 32 * time.Minute, resolves: 100 * time.Minute,
		},
		{
			alert: rules.AlertSLONoSamples,
			fault: one(counter(metrics.SLOTurns, 0, judged()...)), almost: one(counter(metrics.SLOTurns, 0.1, judged()...)),
			lead: 20 * time.Minute, fires: 80 * time.Minute, resolves: 5 * time.Minute,
		},
	}
}

func sixfoldTargets() []sixfold {
	failed := func(n float64) []series {
		return []series{gauge(metrics.ConsecutiveFailed, n, job()...), gauge(metrics.Failing, 60, job()...)}
	}
	busy := func(perMinute float64) []series { return one(counter(metrics.TurnFailures, perMinute, refused()...)) }
	return []sixfold{
		{
			alert: rules.AlertForeignAnswers, fault: one(counter(metrics.RecallTurns, 0.6, recalled("foreign")...)),
			almost: one(counter(metrics.RecallTurns, 8, recalled("wrong")...)),
			lead:   20 * time.Minute, fires: 5 * time.Minute, resolves: 45 * time.Minute,
		},
		{
			alert: rules.AlertTargetDown, fault: failed(5), almost: failed(4),
			lead: 5 * time.Minute, fires: 2 * time.Minute, resolves: 7 * time.Minute,
		},
		{
			alert: rules.AlertTargetBusy, fault: busy(1), almost: busy(0.35),
			lead: 20 * time.Minute, fires: 15 * time.Minute, resolves: 30 * time.Minute,
		},
		{
			alert: rules.AlertProxyBuffering, fault: one(counter(metrics.TurnsBuffered, 4, firstTurns()...)),
			almost: one(counter(metrics.TurnsBuffered, 0.7, firstTurns()...)),
			lead:   20 * time.Minute, fires: 5 * time.Minute, resolves: 21 * time.Minute,
		},
		{
			alert: rules.AlertGatewayFallback, fault: one(counter(metrics.GatewayFallbacks, 4, job()...)),
			almost: one(counter(metrics.GatewayFallbacks, 1.9, job()...)),
			lead:   20 * time.Minute, fires: 5 * time.Minute, resolves: 10 * time.Minute,
		},
		{
			alert: rules.AlertTargetNoSamples,
			fault: one(counter(metrics.SLOTurns, 0, judged()...)), almost: one(counter(metrics.SLOTurns, 0.5, judged()...)),
			lead: 20 * time.Minute, fires: 22 * time.Minute, resolves: 14 * time.Minute,
			onMissing: metrics.SLOTurns,
			onNaN:     true, // what is no number is no sample
		},
	}
}

func sixfoldRegressions() []sixfold {
	score := func(name string, v float64) []series { return one(gauge(name, v, timing()...)) }
	cached := func(perMinute float64) []series {
		return one(counter(metrics.CachedPromptTokens, perMinute, firstTurns()...))
	}
	// replica makes the turns of a target slower. The log2 of its turns is 10 otherwise.
	replica := func(ratio float64) []series {
		return one(counter(metrics.SignalLog2, 4*(10+math.Log2(ratio)), signal()...))
	}
	return []sixfold{
		{
			// The ticket is in TestRegressionIsAPageOrATicket.
			alert: rules.AlertRegression, fault: score(metrics.PageScore, 1), almost: score(metrics.PageScore, 0.99),
			lead: 5 * time.Minute, fires: time.Minute, resolves: 6 * time.Minute,
		},
		{
			alert: rules.AlertReplicaSlow, in: withServices, fault: replica(2.2), almost: replica(1.8),
			lead: 10 * time.Minute, fires: 10 * time.Minute, resolves: 12 * time.Minute,
		},
		{
			alert: rules.AlertBaselineMoved, fault: one(aged(metrics.BaselineMoved, time.Minute, job()...)), almost: one(aged(metrics.BaselineMoved, 61*time.Minute, job()...)),
			lead: 5 * time.Minute, fires: 3 * time.Minute, resolves: 3 * time.Minute,
		},
		{
			alert: rules.AlertRegressionBlind, fault: score(metrics.Detectable, math.Inf(1)), almost: score(metrics.Detectable, 2.5),
			lead: 5 * time.Minute, fires: 65 * time.Minute, resolves: 25 * time.Hour,
		},
		{
			alert: rules.AlertRegressionBlind, scope: "young", fault: score(metrics.Detectable, math.NaN()),
			lead: time.Hour, fires: 49 * time.Hour, resolves: 20 * time.Minute,
		},
		{
			alert: rules.AlertCachedRatioDrop, fault: cached(100), almost: cached(170),
			lead: 20 * time.Minute, fires: 36 * time.Minute, resolves: 30 * time.Minute,
		},
	}
}

func sixfoldProbers() []sixfold {
	silent := func(age time.Duration) []series { return one(aged(metrics.LastTurn, age, job()...)) }
	stuck := func(age time.Duration) []series { return one(aged(metrics.SchedulerHeartbeat, age, job()...)) }
	starved := func(v float64) []series { return one(gauge(metrics.ProberStarved, v, job()...)) }
	skipped := func(perMinute float64) []series {
		return one(counter(metrics.ConversationsSkipped, perMinute, overBudget()...))
	}
	without := func(perMinute float64) []series { return one(counter(metrics.UsageMissing, perMinute, job()...)) }
	return []sixfold{
		{
			alert: rules.AlertProberSilent, fault: silent(310 * time.Second), almost: silent(5 * time.Minute),
			lead: 5 * time.Minute, fires: 4 * time.Minute, resolves: 12 * time.Minute,
			onMissing: metrics.BuildInfo,
		},
		{
			alert: rules.AlertSchedulerStuck, fault: stuck(130 * time.Second), almost: stuck(2 * time.Minute),
			lead: 5 * time.Minute, fires: 3 * time.Minute, resolves: 2 * time.Minute,
		},
		{
			alert: rules.AlertConfigReloadFailed, fault: one(gauge(metrics.ConfigLastReloadSuccessful, 0)),
			lead: 5 * time.Minute, fires: 7 * time.Minute, resolves: 2 * time.Minute,
		},
		{
			alert: rules.AlertDiscoveryFailing, in: withServices, fault: one(gauge(metrics.DiscoveryFailing, 1, "group", "pods")),
			lead: 5 * time.Minute, fires: 17 * time.Minute, resolves: 2 * time.Minute,
		},
		{
			alert: rules.AlertPagerStalled, fault: one(gauge(metrics.PagerStalled, 1)),
			lead: 5 * time.Minute, fires: 7 * time.Minute, resolves: 2 * time.Minute,
		},
		{
			alert: rules.AlertProberStarved, fault: starved(1),
			lead: 5 * time.Minute, fires: 4 * time.Minute, resolves: 7 * time.Minute,
		},
		{
			alert: rules.AlertConversationsSkipped, fault: skipped(1), almost: skipped(0.4),
			lead: 20 * time.Minute, fires: 20 * time.Minute, resolves: 30 * time.Minute,
		},
		{
			alert: rules.AlertOddAnswers, scope: "usage", fault: without(4), almost: without(1.9),
			lead: 20 * time.Minute, fires: 40 * time.Minute, resolves: 35 * time.Minute,
		},
		{
			alert: rules.AlertOddAnswers, scope: "finish_reason", fault: one(counter(metrics.FinishReasons, 1, append(job(), "finish_reason", "tired")...)),
			lead: 20 * time.Minute, fires: 3 * time.Minute, resolves: 26 * time.Hour,
		},
		{
			alert: rules.AlertOddAnswers, scope: "context", fault: one(counter(metrics.ContextCut, 1, job()...)),
			lead: 20 * time.Minute, fires: 4 * time.Minute, resolves: 26 * time.Hour,
		},
		{
			alert: rules.AlertRulesOutdated, fault: one(gauge(metrics.SLOObjective, 0.98, "slo", "ttft")),
			lead: 5 * time.Minute, fires: 17 * time.Minute, resolves: 2 * time.Minute,
			onMissing: metrics.Silence, // then the prober is older than the rules
			onNaN:     true,            // no number is another number than the rules'
		},
	}
}
