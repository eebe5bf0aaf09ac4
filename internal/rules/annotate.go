package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Descriptions are Prometheus templates. jobOf sets $j to the matchers of the alert's job;
// every query uses it.
const jobOf = "{{ $j := printf `target=%q,workload=%q` $labels.target $labels.workload }}"

// asks returns a template's query call. query must not contain a back quote; args fill its
// verbs.
func asks(query, args string) string { return "query (printf `" + query + "` " + args + ")" }

// told returns a template that shows text for the first result of a query, and nothing without
// a result.
func told(query, args, text string) string {
	return "{{ with " + asks(query, args) + " }}{{ with first . }}" + text + "{{ end }}{{ end }}"
}

const (
	// leastEffect is the smallest ratio to the baseline that is listed.
	leastEffect = 1.1
	// freshTurn is the largest age of a bad turn that is shown, in seconds.
	freshTurn = 600
)

// largest shows the largest effect on a job.
func largest(text string) string { return told(RecordEffect+"{%s}", "$j", text) }

const effect = "{{ .Labels.signal }} of {{ .Labels.turn }} turns is {{ printf `%.2f` .Value }} times the usual"

// mostly describes the largest effect briefly. Just after the end there is none.
func mostly() string {
	return "{{ with " + asks(RecordEffect+"{target=%q,workload=%q}", "$labels.target $labels.workload") + " }}{{ with first . }}" + effect + "{{ end }}{{ else }}turns were slower than usual{{ end }}"
}

// effects lists the slower turns by effect, largest first, with their start and the likely
// part.
func effects() string {
	usual := told(fmt.Sprintf("max(%s{%%s,turn=%%q,signal=%%q})", metrics.Baseline), "$j .Labels.turn .Labels.signal", " ({{ humanizeDuration .Value }})")
	return "{{ range " + asks(fmt.Sprintf("sort_desc(max by (turn, signal) (%s{%%s}) > %s)", metrics.RegressionRatio, num(leastEffect)), "$j") + " }}" +
		effect + usual + ". {{ end }}" +
		told(fmt.Sprintf("max(%s{%%s}) == 1", metrics.BaselineYoung), "$j", "The usual stands on less than a day. ") +
		told(since(), "$j", "Since {{ humanizeTimestamp .Value }}. ") +
		told(RecordPart+"{%s}", "$j", "Likely part: {{ .Labels.part }} ({{ printf `+%.2g` .Value }} s a turn). ")
}

// seenFrom names the probers that see the fault: all, or a single one.
const seenFrom = "{{ with query (printf `topk(5, " + metrics.ConsecutiveFailed + "{%s} > 1)` $j) }}Seen from{{ range . }} {{ .Labels.instance }}{{ end }}. {{ end }}"

func since() string { return fmt.Sprintf("min(%s{%%s} > 0)", metrics.RegressionSince) }

// badTurn names the latest bad turn of the last minutes; where selects it. Rules cannot read
// exemplars.
func badTurn(where, args string) string {
	return told(fmt.Sprintf("topk(1, max by (turn, reason, trace_id) (%s{%%s%s}) > time() - %d)", metrics.BadTurn, where, freshTurn), "$j "+args,
		"One bad turn: trace {{ .Labels.trace_id }} ({{ .Labels.turn }} turn, {{ .Labels.reason }}, {{ humanizeTimestamp .Value }}). ")
}

// slowTurn names a bad turn of the largest effect.
func slowTurn() string {
	return largest(badTurn(`,turn=%q,reason=~"(answer_)?%s"`, ".Labels.turn .Labels.signal"))
}

// failedTurn names a failed turn.
func failedTurn() string {
	return badTurn(fmt.Sprintf(",reason!~%q", strings.Join(otherThan(slo.Availability), "|")), "")
}

// otherThan returns the reasons of bad turns that did not fail, except the one of s.
func otherThan(s slo.SLI) []string {
	var out []string
	for _, o := range []slo.SLI{slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.ITL, slo.TurnDuration} {
		if o != s {
			out = append(out, string(o))
		}
	}
	return out
}

// acceptance returns the command that accepts a level.
func acceptance() string {
	return "If the level is meant to stay: synthetic accept --target={{ $labels.target }}" +
		told(since(), "$j", " --since={{ (toTime .Value).UTC.Format `2006-01-02T15:04:05Z` }}")
}
