package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
)

// same matches the labels of the alert, in the template of an annotation.
func same(labels []string) string {
	m := make([]string, len(labels))
	for i, l := range labels {
		m[i] = l + "=%q"
	}
	return strings.Join(m, ",")
}

// lookup is a template that shows a query's result, or otherwise. Each %q of the
// query stands for a label of the alert, which repeat in the order of labels.
func lookup(labels []string, query, show, otherwise string) string {
	args := ""
	for i := range strings.Count(query, "%q") {
		args += " $labels." + labels[i%len(labels)]
	}
	if otherwise != "" {
		otherwise = "{{ else }}" + otherwise
	}
	return "{{ with printf `" + query + "`" + args + " | query }}" + show + otherwise + "{{ end }}"
}

// queried shows the first result of a query on labels of perSignal, or
// "unknown".
func queried(query, show string) string {
	return lookup(perSignal(), query, "{{ . | first | "+show+" }}", "unknown")
}

// one shows the value of a series of the alert's signal.
func one(metric, format string) string {
	return queried(fmt.Sprintf("max(%s{%s})", metric, same(perSignal())), fmt.Sprintf("value | printf %q", format))
}

// young says that a baseline is young, if it is.
func young() string {
	return lookup(perSignal(), fmt.Sprintf("max(%s{%s}) == 1", metrics.BaselineYoung, same(perSignal())),
		", which is the threshold of the SLO: the learned baseline is still young", "")
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
	return "Likely part: " + lookup(perTurn(), likelyPartQuery(),
		"{{ . | first | label \"part\" }} ({{ . | first | value | printf \"+%.3g s a turn\" }})", "unknown") + "." + line()
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
		return maxBy([]string{metrics.LabelPart}, with(metrics.Excess, metrics.LabelPart, string(p)))
	}
	decodes := ratio(regression.TPOT) + " > " + ratio(regression.TTFT) + " ^ " + num(decodeShare)
	waits := fmt.Sprintf("%s * max(%s)", num(minExcess), with(metrics.Baseline, metrics.LabelSignal, string(regression.TTFT)))
	return fmt.Sprintf("(%s > 0 and on () (%s)) or topk(1, (%s or %s) > on () group_left () (%s) unless on () (%s))",
		excess(regression.Decode), decodes, excess(regression.Connect), excess(regression.QueuePrefill), waits, decodes)
}

// line splits the TTFT into queue and prefill, where the prompts differ enough
// to tell.
func line() string {
	at := func(record string) string { return fmt.Sprintf("%s{%s}", record, same(perTurn())) }
	return lookup(perTurn(), at(RecordQueue), fmt.Sprintf(" Over 30m a turn waits %s s and %s s more per 1000 uncached prompt tokens.",
		"{{ . | first | value | printf \"%.3g\" }}", queried("1000 * "+at(RecordPrefill), "value | printf \"%.3g\"")), "")
}

// badTurnText is the sentence of an annotation that names the latest bad turn
// of the alert's labels, as far as they are those of the metric: rules see no
// exemplars. Several probers and both kinds of turn may show one each; the one
// that ended last counts. The value of the metric is when it ended.
func badTurnText(by []string) string {
	query := fmt.Sprintf("topk(1, max by (turn, reason, trace_id) (%s{%s}))", metrics.BadTurn, same(by))
	return lookup(by, query, "{{ with first . }}"+
		"Latest bad turn: trace {{ .Labels.trace_id }} ({{ .Labels.turn }} turn, {{ .Labels.reason }}, ended {{ humanizeTimestamp .Value }})."+
		"{{ end }}", "No bad turn of the last hour is known.")
}
