package rules

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// same matches the labels of the alert, in the template of an annotation.
func same(labels []string) string {
	m := make([]string, len(labels))
	for i, l := range labels {
		m[i] = l + "=%q"
	}
	return strings.Join(m, ",")
}

// queried is a template that shows the first result of a query, in which each
// %q stands for a label of perSignal, or "unknown".
func queried(query, show string) string {
	args := ""
	for _, l := range perSignal()[:strings.Count(query, "%q")] {
		args += " $labels." + l
	}
	return fmt.Sprintf("{{ with printf %s%s | query }}{{ . | first | %s }}{{ else }}unknown{{ end }}", "`"+query+"`", args, show)
}

// one shows the value of a series of the alert's signal.
func one(metric, format string) string {
	return queried(fmt.Sprintf("max(%s{%s})", metric, same(perSignal())), fmt.Sprintf("value | printf %q", format))
}

func limit() string     { return one(metrics.CusumLimit, "%.2f") }
func threshold() string { return one(RecordSlowThreshold, "%.2f") }

// times shows the recorded ratio to the baseline, as in "3.1 times".
func times(window time.Duration) string { return one(RecordGeomean(window), "%.2f times") }

// comparison says what the turns are compared with, and by how much they are
// worse. A young baseline says so.
func comparison(window time.Duration) string {
	young := fmt.Sprintf("max(%s{%s}) == 1", metrics.BaselineYoung, same(perSignal()))
	labels := " $labels." + strings.Join(perSignal(), " $labels.")
	return fmt.Sprintf("The geometric mean of the last %s is %s the baseline of %s s (%s turns){{ with printf `%s`%s | query }}, which is the threshold of the SLO: the learned baseline is still young{{ end }}.",
		slo.Short(window), times(window), one(metrics.Baseline, "%.3g"), one(metrics.BaselineTurns, "%.0f"), young, labels)
}

const (
	// minExcess is the least part of the baseline that the wait for the first
	// token must be longer for one of its parts to be named: less is noise.
	minExcess = 0.2
	// decodeShare is by how much the TPOT must have risen in relation to the
	// TTFT, both on the log scale, for decode to be named. It is below 1 because
	// a turn spends most of its time there.
	decodeShare = 0.67
)

// likelyPart names the part of a turn that has become slow. It is not the one
// with most seconds: a prompt that takes twice as long delays the tokens of all
// others, too, and over an answer that can be more than its own wait. So decode
// is named where the TPOT has risen nearly as much as the TTFT, in relation to
// their baselines. Of the TTFT it is the larger of its two parts.
func likelyPart() string {
	return "Likely part: {{ with printf `" + likelyPartQuery() + "`" + labelsOf(perTurn(), likelyPartQuery()) +
		" | query }}{{ . | first | label \"part\" }} ({{ . | first | value | printf \"+%.3g s a turn\" }}){{ else }}unknown{{ end }}." + line()
}

// likelyPartQuery has one result or none: the excess of the likely part.
func likelyPartQuery() string {
	with := func(metric, label, value string) string {
		return fmt.Sprintf("%s{%s,%s=%q}", metric, same(perTurn()), label, value)
	}
	ratio := func(s regression.Signal) string {
		return "max(" + with(RecordGeomean(shortWindow), metrics.LabelSignal, string(s)) + ")"
	}
	excess := func(p regression.Part) string {
		return "max by (" + metrics.LabelPart + ") (" + with(metrics.Excess, metrics.LabelPart, string(p)) + ")"
	}
	decodes := ratio(regression.TPOT) + " > " + ratio(regression.TTFT) + " ^ " + num(decodeShare)
	waits := fmt.Sprintf("%s * max(%s)", num(minExcess), with(metrics.Baseline, metrics.LabelSignal, string(regression.TTFT)))
	return fmt.Sprintf("(%s > 0 and on () (%s)) or topk(1, (%s or %s) > on () group_left () (%s) unless on () (%s))",
		excess(regression.Decode), decodes, excess(regression.Connect), excess(regression.QueuePrefill), waits, decodes)
}

// labelsOf are the arguments for the places of a query that stand for labels,
// which repeat in their order.
func labelsOf(labels []string, query string) string {
	args := ""
	for i := range strings.Count(query, "%q") {
		args += " $labels." + labels[i%len(labels)]
	}
	return args
}

// line splits the TTFT into queue and prefill, where the prompts differ enough
// to tell.
func line() string {
	at := func(record string) string { return fmt.Sprintf("%s{%s}", record, same(perTurn())) }
	return fmt.Sprintf("{{ with printf `%s`%s | query }} Over 30m a turn waits %s s and %s s more per 1000 uncached prompt tokens.{{ end }}",
		at(RecordQueue), " $labels."+strings.Join(perTurn(), " $labels."),
		"{{ . | first | value | printf \"%.3g\" }}", queried("1000 * "+at(RecordPrefill), "value | printf \"%.3g\""))
}
