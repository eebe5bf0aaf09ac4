package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Descriptions are Prometheus templates. setJob sets $j to the matchers of the alert's job for queries.
const setJob = "{{ $j := printf `target=%q,workload=%q` $labels.target $labels.workload }}"

// queryCall returns the call of a template's query function. query must not contain a back quote; args
// fill its verbs.
func queryCall(query, args string) string { return "query (printf `" + query + "` " + args + ")" }

// showFirst returns a template that shows text for the first result of a query, and nothing without a
// result.
func showFirst(query, args, text string) string {
	return "{{ with " + queryCall(query, args) + " }}{{ with first . }}" + text + "{{ end }}{{ end }}"
}

const (
	// minEffect is the smallest ratio to the baseline that is listed.
	minEffect = 1.1
	// maxTurnAge is the largest age of a bad turn that is shown, in seconds.
	maxTurnAge = 600
)

const effect = "{{ .Labels.signal }} of {{ .Labels.turn }} turns is {{ printf `%.2f` .Value }} times the baseline"

// largestEffect describes the largest effect in a few words. Just after the end of a regression there is
// none.
func largestEffect() string {
	return "{{ with " + queryCall(RecordEffect+"{target=%q,workload=%q}", "$labels.target $labels.workload") + " }}{{ with first . }}" + effect + "{{ end }}{{ else }}turns were slower than the baseline{{ end }}"
}

// effects lists the effects, largest first, with the start of the regression and the likely part.
func effects() string {
	level := showFirst(fmt.Sprintf("max(%s{%%s,turn=%%q,signal=%%q})", metrics.Baseline), "$j .Labels.turn .Labels.signal", " ({{ humanizeDuration .Value }})")
	return "{{ range " + queryCall(fmt.Sprintf("sort_desc(max by (turn, signal) (%s{%%s}) > %s)", metrics.RegressionRatio, num(minEffect)), "$j") + " }}" +
		effect + level + ". {{ end }}" +
		showFirst(fmt.Sprintf("max(%s{%%s}) == 1", metrics.BaselineYoung), "$j", "The baseline is based on less than a day. ") +
		showFirst(since(), "$j", "Since {{ humanizeTimestamp .Value }}. ") +
		showFirst(RecordPart+"{%s}", "$j", "Likely part: {{ .Labels.part }} ({{ printf `+%.2g` .Value }} s per turn). ")
}

const seenFrom = "{{ with query (printf `topk(5, " + metrics.ConsecutiveFailed + "{%s} > 1)` $j) }}Seen by{{ range . }} {{ .Labels.instance }}{{ end }}. {{ end }}"

func since() string { return fmt.Sprintf("min(%s{%%s} > 0)", metrics.RegressionSince) }

// badTurn shows the trace id of the latest recent bad turn that the matchers select. It reads a metric
// because rules cannot read exemplars.
func badTurn(matchers, args string) string {
	return showFirst(fmt.Sprintf("topk(1, max by (turn, reason, trace_id) (%s{%%s%s}) > time() - %d)", metrics.BadTurn, matchers, maxTurnAge), "$j "+args,
		"One bad turn: trace {{ .Labels.trace_id }} ({{ .Labels.turn }} turn, {{ .Labels.reason }}, {{ humanizeTimestamp .Value }}). ")
}

func slowTurn() string {
	return showFirst(RecordEffect+"{%s}", "$j", badTurn(`,turn=%q,reason=~"(answer_)?%s"`, ".Labels.turn .Labels.signal"))
}

func failedTurn() string {
	return badTurn(fmt.Sprintf(",reason!~%q", strings.Join(otherThan(slo.Availability), "|")), "")
}

// otherThan returns the reasons of bad turns that did not fail, except the reason of s.
func otherThan(s slo.SLI) []string {
	var out []string
	for _, o := range []slo.SLI{slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.ITL, slo.TurnDuration} {
		if o != s {
			out = append(out, string(o))
		}
	}
	return out
}

func acceptance() string {
	return "If the new level is intended: synthetic accept --target={{ $labels.target }}" +
		showFirst(since(), "$j", " --since={{ (toTime .Value).UTC.Format `2006-01-02T15:04:05Z` }}")
}

func starvedText() string {
	return "{{ $i := printf `instance=%q` $labels.instance }}" +
		showFirst("max("+metrics.ProberLag+"{%s}) > 0", "$i",
			"In more than 5 % of the last minute it ran at least {{ humanizeDuration .Value }} late. ") +
		showFirst(fmt.Sprintf("sum(rate(%s{%%s}[5m])) / sum(rate(%s{%%[1]s}[5m])) > 0", metrics.TurnOwnFaults, metrics.Turns), "$i",
			"It caused {{ humanizePercentage .Value }} of the turns of the last 5m to fail. ")
}
