package status

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

const (
	leastEffect = 1.1
	// If the TPOT rose by at least the TTFT's rise to the power alike, the slower decode is
	// taken as the cause of both, and no part of the TTFT is named. The rules do the same.
	alike = 0.67
)

// effect is the largest deviation of a job's signals from their baselines.
type effect struct {
	Signal sink.Signal
	Turn   probe.TurnKind
	// Ratio is the ratio to Usual, in seconds; 0 if unknown.
	Ratio, Usual float64
	// start of the regression; zero without one
	Since time.Time
	// likely part of the turn, "" if unknown
	Part baseline.Part
}

const (
	// An effect just before an incident is measured within latestSpan, with at least
	// latestTurns turns.
	latestSpan  = 2 * time.Minute
	latestTurns = 5
)

// useLatestTurns raises the ratios of views to the ratios of the last two minutes, because a
// mean over five minutes is too small just after the start.
func useLatestTurns(views *baseline.Views, samples []sample, now time.Time) {
	for k, kind := range probe.TurnKinds() {
		var sum, turns [2]float64
		for _, s := range samples {
			if s.turn() != kind || now.Sub(s.end) > latestSpan {
				continue
			}
			for i, d := range s.latencies() {
				if d.OK && d.V > 0 {
					sum[i], turns[i] = sum[i]+math.Log(d.V.Seconds()), turns[i]+1
				}
			}
		}
		for i := range sum {
			if v := &views[k][i]; turns[i] >= latestTurns && v.Baseline.OK {
				if ratio := math.Exp(sum[i]/turns[i]) / v.Baseline.V; v.Ratio.V < ratio {
					v.Ratio = probe.Some(ratio)
				}
			}
		}
	}
}

// effectOf returns the largest effect in the views of a job.
func effectOf(views baseline.Views, excess [2]probe.Opt[[4]float64]) (e effect) {
	worst := 0
	for k, kind := range probe.TurnKinds() {
		for i, signal := range sink.Signals() {
			if v := views[k][i]; v.Ratio.V > e.Ratio && v.Baseline.OK {
				e = effect{Signal: signal, Turn: kind, Ratio: v.Ratio.V, Usual: v.Baseline.V, Since: v.Since}
				worst = k
			}
		}
	}
	if e.Ratio < leastEffect {
		return effect{}
	}
	e.Part = likelyPart(views[worst], excess[worst].V, e)
	return e
}

// likelyPart returns the part that became slower: decode if the TPOT rose, else the larger part
// of the wait for the first token.
func likelyPart(views [2]baseline.View, excess [4]float64, e effect) (part baseline.Part) {
	if e.Signal != sink.Signals()[0] {
		return baseline.Decode
	}
	if views[1].Ratio.V > math.Pow(views[0].Ratio.V, alike) {
		return ""
	}
	largest := 0.0
	for i, p := range baseline.Parts() {
		if p != baseline.Decode && excess[i] > largest {
			part, largest = p, excess[i]
		}
	}
	return part
}

func (e effect) describe(target string) string {
	return fmt.Sprintf("%s of %s up to %.1f × usual (%s against %s)", strings.ToUpper(string(e.Signal)), target, e.Ratio,
		chart.Label(rounded(e.Ratio*e.Usual), "s"), chart.Label(rounded(e.Usual), "s"))
}

func rounded(v float64) float64 {
	if v <= 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// cause names the part that is likely slower, "" if it is unknown.
func (e effect) cause() string {
	name := map[baseline.Part]string{
		baseline.Connect: "connecting", baseline.QueuePrefill: "queue or prefill",
		baseline.ProxyBuffering: "a proxy that buffers", baseline.Decode: "decode",
	}[e.Part]
	if name == "" {
		return ""
	}
	return ", likely " + name
}

// Headline names in one sentence the fault, its start and, if known, the likely cause.
func (i incident) Headline() string {
	since := " since " + i.Since.UTC().Format("15:04 MST")
	switch {
	case i.has(func(a firedAlert) bool { return a.Name == rules.AlertTargetDown }):
		if i.Turns == 0 {
			return i.About.String() + " is down" + since
		}
		return fmt.Sprintf("%s is down%s: %d of %d turns failed%s", i.About, since, i.Failed, i.Turns, i.reason())
	case i.Failed > 0 && i.has(func(a firedAlert) bool { return a.sli == rules.SLIAvailability }):
		return fmt.Sprintf("%d of %d turns of %s failed%s%s", i.Failed, i.Turns, i.About.Target, since, i.reason())
	case i.Peak.Ratio >= leastEffect && i.has(func(a firedAlert) bool { return a.sli == rules.SLILatency }):
		return i.Peak.describe(i.About.Target) + since + i.Peak.cause()
	}
	if s := i.Main().Summary; s != "" {
		return s + since
	}
	return i.Main().Name + " of " + i.About.String() + since
}

// reason returns the most frequent reason of failures, "" without failures.
func (i incident) reason() string {
	if len(i.Reasons) == 0 {
		return ""
	}
	frequent := slices.MaxFunc(i.Reasons, func(a, b failureReason) int { return a.Turns - b.Turns })
	return " (" + string(frequent.Outcome) + ")"
}

func (i incident) State() state {
	switch {
	case i.paging():
		return state{"bad", "paging"}
	case !i.Ended.IsZero():
		return state{"good", "over"}
	case i.has(func(a firedAlert) bool { return a.Severity == "page" }):
		return state{"warn", "page over, tickets open"}
	}
	return state{"warn", "ticket"}
}

func (i incident) Lasted(now time.Time) string {
	if !i.Ended.IsZero() {
		return "lasted " + short(i.Ended.Sub(i.Since).Round(time.Second))
	}
	return "for " + short(now.Sub(i.Since).Round(time.Second))
}
