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
	Signal sink.Signal    `json:"signal"`
	Turn   probe.TurnKind `json:"turn"`
	// Ratio is the ratio to Usual, in seconds; 0 if unknown.
	Ratio float64 `json:"ratio"`
	Usual float64 `json:"usual_seconds"`
	// start of the regression; zero without one
	Since time.Time `json:"since,omitzero"`
	// likely part of the turn, "" if unknown
	Part baseline.Part `json:"part,omitempty"`
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
func effectOf(views baseline.Views, excess [2]probe.Opt[[baseline.PartCount]float64]) (e effect) {
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
func likelyPart(views [2]baseline.View, excess [baseline.PartCount]float64, e effect) (part baseline.Part) {
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
		chart.Label(chart.Rounded(e.Ratio*e.Usual), "s"), chart.Label(chart.Rounded(e.Usual), "s"))
}

func partNames() map[baseline.Part]string {
	return map[baseline.Part]string{
		baseline.Connect: "connecting", baseline.QueuePrefill: "queue or prefill",
		baseline.Queue: "queue or network", baseline.Prefill: "prefill",
		baseline.ProxyBuffering: "a proxy that buffers", baseline.Decode: "decode",
	}
}

// part names the part that is likely slower, "" if it is unknown.
func (e effect) part() string { return partNames()[e.Part] }

func (e effect) cause() string {
	if name := e.part(); name != "" {
		return ", likely " + name
	}
	return ""
}

// Headline names in one sentence the fault, its start and, if known, the likely cause.
func (i incident) Headline() string { return i.headline(clock(i.Since)) }

func clock(at time.Time) string { return at.UTC().Format("15:04 MST") }

// headline is Headline with the start in the words of the reader.
func (i incident) headline(since string) string {
	since = " since " + since
	switch {
	case i.has(func(a firedAlert) bool { return a.Name == rules.AlertTargetDown }):
		if i.Turns == 0 {
			return i.About.String() + " is down" + since
		}
		return fmt.Sprintf("%s is down%s: %d of %d turns failed%s", i.About, since, i.Failed, i.Turns, i.reason())
	case i.Failed > 0 && i.has(func(a firedAlert) bool { return a.SLI == rules.SLIAvailability }):
		return fmt.Sprintf("%d of %d turns of %s failed%s%s", i.Failed, i.Turns, i.About.Target, since, i.reason())
	case i.Peak.Ratio >= leastEffect && i.has(func(a firedAlert) bool { return a.SLI == rules.SLILatency || a.SLI == rules.SLISession }):
		return i.Peak.describe(i.About.Target) + since + i.Peak.cause()
	}
	if s := i.Main().Summary; strings.Contains(s, " since ") {
		return s
	} else if s != "" {
		return s + since
	}
	return i.Main().Name + " of " + i.About.String() + since
}

// Says returns the summary of the main alert, if the headline does not repeat it.
func (i incident) Says() string {
	if s := i.Main().Summary; !strings.Contains(i.Headline(), s) {
		return s
	}
	return ""
}

// reason describes the failures: the most frequent outcome, and the error of one such turn.
func (i incident) reason() string {
	o := i.mostFailed()
	if o == "" {
		return ""
	}
	text := " (" + string(o) + ")"
	if at := slices.IndexFunc(i.Worst, func(t scored) bool { return t.Outcome == o && t.Err != "" }); at >= 0 {
		text += ": " + i.Worst[at].Err
	}
	return text
}

// mostFailed returns the most frequent outcome of failed turns, "" without failures.
func (i incident) mostFailed() probe.Outcome {
	if len(i.Reasons) == 0 {
		return ""
	}
	return slices.MaxFunc(i.Reasons, func(a, b failureReason) int { return a.Turns - b.Turns }).Outcome
}

// Advice says where to look first if most turns failed.
func (i incident) Advice() string {
	if 2*i.Failed <= i.Turns {
		return ""
	}
	return rules.Advice(i.mostFailed())
}

func (i incident) State() state {
	switch {
	case i.paging():
		return state{"bad", "paging"}
	case !i.Ended.IsZero() && i.Judged == "false":
		return state{"good", "over, a false page"}
	case !i.Ended.IsZero():
		return state{"good", "over"}
	case i.has(func(a firedAlert) bool { return a.Severity == "page" }):
		return state{"warn", "page over, tickets open"}
	}
	return state{"warn", "ticket"}
}

// Lasted returns the duration of a finished incident, "" of an open one.
func (i incident) Lasted() string {
	if i.Ended.IsZero() {
		return ""
	}
	return "lasted " + short(i.Ended.Sub(i.Since).Round(time.Second))
}
