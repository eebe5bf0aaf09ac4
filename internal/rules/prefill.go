package rules

import (
	"fmt"

	"synthetic/internal/sidecar/metrics"
)

// spread is the least standard deviation of the uncached prompt tokens, as a
// part of their mean, that a line can be drawn through: 0.1, squared.
const spread = 0.01

// lineSum is one of the sums of the line, over the slow window.
func lineSum(metric string) string { return matchers{}.increase(perTurn(), metric, slowWindow) }

// prefill is the slope of the least-squares line of the TTFT over the uncached
// prompt tokens: (nΣut − ΣuΣt) / (nΣu² − (Σu)²), where the tokens vary enough.
func prefill() string {
	n, u, t := lineSum(metrics.PrefillTurns), lineSum(metrics.PrefillUncached), lineSum(metrics.PrefillTime)
	variance := fmt.Sprintf("(\n  %s * %s\n  -\n  %s ^ 2\n)", n, lineSum(metrics.PrefillSquared), u)
	return fmt.Sprintf("(\n  %s * %s\n  -\n  %s * %s\n)\n/\n(%s > %s * %s ^ 2)\nand\n%s >= %d",
		n, lineSum(metrics.PrefillProduct), u, t, variance, num(spread), u, n, 2*minSlow)
}

// queue is the line's value without uncached tokens: (Σt − slope Σu) / n.
func queue() string {
	return fmt.Sprintf("(\n  %s\n  -\n  %s * %s\n)\n/\n%s",
		lineSum(metrics.PrefillTime), RecordPrefill, lineSum(metrics.PrefillUncached), lineSum(metrics.PrefillTurns))
}
