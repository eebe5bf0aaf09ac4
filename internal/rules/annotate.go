package rules

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/metrics"
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
	return fmt.Sprintf("Now it is %s the baseline of %s s (%s turns){{ with printf `%s`%s | query }}, which is the threshold of the SLO: the learned baseline is still young{{ end }}.",
		times(window), one(metrics.Baseline, "%.3g"), one(metrics.BaselineTurns, "%.0f"), young, labels)
}

// likelyPart names the part of a turn that takes most of the excess.
func likelyPart() string {
	query := fmt.Sprintf("topk(1, max by (part) (%s{%s} > 0))", metrics.Excess, same(perTurn()))
	return "Likely part: " + queried(query, "label \"part\"") + " (" +
		queried(fmt.Sprintf("max(%s{%s} > 0)", metrics.Excess, same(perTurn())), "value | printf \"+%.3g s a turn\"") + ")." + line()
}

// line splits the TTFT into queue and prefill, where the prompts differ enough
// to tell.
func line() string {
	at := func(record string) string { return fmt.Sprintf("%s{%s}", record, same(perTurn())) }
	return fmt.Sprintf("{{ with printf `%s`%s | query }} Over 30m a turn waits %s s and %s s more per 1000 uncached prompt tokens.{{ end }}",
		at(RecordQueue), " $labels."+strings.Join(perTurn(), " $labels."),
		"{{ . | first | value | printf \"%.3g\" }}", queried("1000 * "+at(RecordPrefill), "value | printf \"%.3g\""))
}
