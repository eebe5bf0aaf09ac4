package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Descriptions are templates of Prometheus. $j is what selects the series of the
// alert's job: it is set once, and every query prints it in.
const jobOf = "{{ $j := printf `target=%q,workload=%q` $labels.target $labels.workload }}"

// asks is the result of a query that may hold no back quote; args stand for its
// verbs.
func asks(query, args string) string { return "query (printf `" + query + "` " + args + ")" }

// told shows the first result of a query, as the dot, and nothing where there is
// none.
func told(query, args, text string) string {
	return "{{ with " + asks(query, args) + " }}{{ with first . }}" + text + "{{ end }}{{ end }}"
}

const (
	// leastEffect is the ratio to the usual from which on an effect is listed.
	leastEffect = 1.1
	// freshTurn is the age, in seconds, up to which a bad turn is of the fault.
	freshTurn = 600
)

// largest shows the largest effect on a job.
func largest(text string) string { return told(RecordEffect+"{%s}", "$j", text) }

const effect = "{{ .Labels.signal }} of {{ .Labels.turn }} turns is {{ printf `%.2f` .Value }} times the usual"

// mostly is the largest effect in a few words; there is none to see just after the
// end.
func mostly() string {
	return "{{ with " + asks(RecordEffect+"{target=%q,workload=%q}", "$labels.target $labels.workload") + " }}{{ with first . }}" + effect + "{{ end }}{{ else }}turns were slower than usual{{ end }}"
}

// effects says how much slower which turns are, the largest effect first, since
// when, and which part of a turn that is.
func effects() string {
	usual := told(fmt.Sprintf("max(%s{%%s,turn=%%q,signal=%%q})", metrics.Baseline), "$j .Labels.turn .Labels.signal", " ({{ humanizeDuration .Value }})")
	return "{{ range " + asks(fmt.Sprintf("sort_desc(max by (turn, signal) (%s{%%s}) > %s)", metrics.RegressionRatio, num(leastEffect)), "$j") + " }}" +
		effect + usual + ". {{ end }}" +
		told(fmt.Sprintf("max(%s{%%s}) == 1", metrics.BaselineYoung), "$j", "The usual stands on less than a day. ") +
		told(since(), "$j", "Since {{ humanizeTimestamp .Value }}. ") +
		told(RecordPart+"{%s}", "$j", "Likely part: {{ .Labels.part }} ({{ printf `+%.2g` .Value }} s a turn). ")
}

// seenFrom names probers that see the fault: all of them, or one alone.
const seenFrom = "{{ with query (printf `topk(5, " + metrics.ConsecutiveFailed + "{%s} > 1)` $j) }}Seen from{{ range . }} {{ .Labels.instance }}{{ end }}. {{ end }}"

func since() string { return fmt.Sprintf("min(%s{%%s} > 0)", metrics.RegressionSince) }

// badTurn names the bad turn of the last minutes that ended last; where are
// matchers of it. Rules see no exemplars.
func badTurn(where, args string) string {
	return told(fmt.Sprintf("topk(1, max by (turn, reason, trace_id) (%s{%%s%s}) > time() - %d)", metrics.BadTurn, where, freshTurn), "$j "+args,
		"One bad turn: trace {{ .Labels.trace_id }} ({{ .Labels.turn }} turn, {{ .Labels.reason }}, {{ humanizeTimestamp .Value }}). ")
}

// slowTurn is one that is bad for the largest effect.
func slowTurn() string {
	return largest(badTurn(`,turn=%q,reason=~"(answer_)?%s"`, ".Labels.turn .Labels.signal"))
}

// failedTurn is one that failed.
func failedTurn() string {
	return badTurn(fmt.Sprintf(",reason!~%q", strings.Join(otherThan(slo.Availability), "|")), "")
}

// otherThan are the reasons for which a turn that did not fail is bad, but for
// one.
func otherThan(s slo.SLI) []string {
	var out []string
	for _, o := range []slo.SLI{slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.ITL, slo.TurnDuration} {
		if o != s {
			out = append(out, string(o))
		}
	}
	return out
}

// acceptance is the command that takes a level for the usual.
func acceptance() string {
	return "If the level is meant to stay: synthetic accept --target={{ $labels.target }}" +
		told(since(), "$j", " --since={{ (toTime .Value).UTC.Format `2006-01-02T15:04:05Z` }}")
}
