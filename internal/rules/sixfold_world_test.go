package rules_test

import (
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/sidecar/metrics"
)

// series is one series of the only prober.
type series struct {
	labels labels.Labels
	// perMinute is the increase of a counter.
	perMinute float64
	// gauge returns the value of a gauge at a time; nil for a counter.
	gauge func(now time.Time) float64
}

func counter(name string, perMinute float64, pairs ...string) series {
	return series{labels: named(name, pairs), perMinute: perMinute}
}

func gauge(name string, v float64, pairs ...string) series {
	return series{labels: named(name, pairs), gauge: func(time.Time) float64 { return v }}
}

// aged returns a timestamp of constant age.
func aged(name string, age time.Duration, pairs ...string) series {
	return series{labels: named(name, pairs), gauge: func(now time.Time) float64 {
		return float64(now.Add(-age).Unix())
	}}
}

func (s series) name() string { return s.labels.Get(model.MetricNameLabel) }

// named returns the labels of a series as Prometheus stores them with the feature type-and-unit-labels.
// Without the feature, every rule sees fewer labels.
func named(name string, pairs []string) labels.Labels {
	kind := model.MetricTypeGauge
	if strings.HasSuffix(name, "_total") {
		kind = model.MetricTypeCounter
	}
	return labels.FromStrings(append([]string{model.MetricNameLabel, name, "__type__", string(kind)}, pairs...)...)
}

// healthyWorld is what a prober of usual exports while all is well: 4
// conversations and 12 turns a minute.
func healthyWorld() []series {
	return []series{
		gauge(metrics.BuildInfo, 1),
		gauge(metrics.ConfigLastReloadSuccessful, 1),
		gauge(metrics.DiscoveryFailing, 0, "group", "pods"),
		gauge(metrics.PagerStalled, 0),
		aged(metrics.SchedulerHeartbeat, 5*time.Second, job()...),
		gauge(metrics.Silence, 300, job()...),
		gauge(metrics.OutageTurns, 5, append(job(), "url", "http://a")...),
		aged(metrics.LastTurn, 5*time.Second, job()...),
		gauge(metrics.ConsecutiveFailed, 0, job()...),
		gauge(metrics.Failing, 0, job()...),
		gauge(metrics.ProberStarved, 0, job()...),
		counter(metrics.Turns, 4, firstTurns()...),
		counter(metrics.TurnsBuffered, 0, firstTurns()...),
		counter(metrics.GatewayTurns, 4, append(job(), "backend", "10.0.0.7:8000")...),
		counter(metrics.GatewayFallbacks, 0, job()...),
		aged(metrics.GatewayFallbackSince, time.Hour, job()...),
		counter(metrics.OutputTokens, 8000, job()...),
		counter(metrics.TurnFailures, 0, refused()...),
		counter(metrics.TurnOwnFaults, 0, firstTurns()...),
		counter(metrics.UsageMissing, 0, job()...),
		counter(metrics.FinishReasons, 4, append(job(), "finish_reason", "stop")...),
		counter(metrics.ContextCut, 0, job()...),
		counter(metrics.RecallTurns, 8, recalled("right")...),
		counter(metrics.RecallTurns, 0, recalled("wrong")...),
		counter(metrics.RecallTurns, 0, recalled("foreign")...),
		counter(metrics.ConversationsStarted, 4, job()...),
		counter(metrics.ConversationsSkipped, 0, overBudget()...),

		gauge(metrics.SLOObjective, ttft.Objective, "slo", "ttft"),
		gauge(metrics.SLOThreshold, ttft.Threshold.Seconds(), "slo", "ttft"),
		counter(metrics.SLOTurns, 12, judged()...),
		counter(metrics.SLOViolations, 0, judged()...),

		counter(metrics.SignalTurns, 4, signal()...),
		counter(metrics.SignalLog2, 40, signal()...),
		counter(metrics.SignalTurns, 4, sibling("b")...),
		counter(metrics.SignalLog2, 40, sibling("b")...),
		counter(metrics.SignalTurns, 4, sibling("c")...),
		counter(metrics.SignalLog2, 40, sibling("c")...),
		gauge(metrics.BaselineMoved, 0, job()...),
		gauge(metrics.PageScore, 0.1, timing()...),
		gauge(metrics.TicketScore, 0.1, timing()...),
		gauge(metrics.RegressionRatio, 1.02, timing()...),
		gauge(metrics.Detectable, 1.3, timing()...),
		gauge(metrics.CachedBaseline, 0.8, firstTurns()...),
		counter(metrics.CachedPromptTokens, 320, firstTurns()...),
		counter(metrics.CacheKnownPrompt, 400, firstTurns()...),

		gauge(metrics.ServerMetricsUp, 1, "target", "a"),
	}
}

func job() []string        { return []string{"target", "a", "workload", "chat", "service", "all"} }
func firstTurns() []string { return append(job(), "turn", "first") }
func signal() []string     { return append(firstTurns(), "signal", "ttft") }
func timing() []string     { return append(job(), "signal", "ttft") }
func sibling(target string) []string {
	return []string{"target", target, "workload", "chat", "service", "all", "turn", "first", "signal", "ttft"}
}
func judged() []string  { return append(job(), "slo", "ttft") }
func refused() []string { return append(job(), "reason", "http_429") }
func recalled(result string) []string {
	if result == "foreign" {
		return append(job(), "result", result, "cached", "unknown", "depth", "unknown")
	}
	return append(job(), "result", result, "cached", "yes", "depth", "0-1k")
}
func overBudget() []string { return append(job(), "reason", "budget") }
