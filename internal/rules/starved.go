package rules

import (
	"fmt"

	"synthetic/internal/sidecar/metrics"
)

// starvedText says how a prober is starved.
func starvedText() string {
	const of = "{instance=%q}"
	return told(fmt.Sprintf("max(%s%s) > 0", metrics.ProberLag, of), "$labels.instance",
		"In more than 5 % of the last minute's time it ran {{ humanizeDuration .Value }} late or later. ") +
		told(fmt.Sprintf("sum(rate(%s%s[5m])) / sum(rate(%s%s[5m])) > 0", metrics.TurnOwnFaults, of, metrics.Turns, of), "$labels.instance $labels.instance",
			"It spoiled {{ humanizePercentage .Value }} of the turns of the last 5m. ")
}
