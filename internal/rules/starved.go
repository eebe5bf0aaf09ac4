package rules

import (
	"fmt"

	"synthetic/internal/sidecar/metrics"
)

// starvedText describes why a prober is starved.
func starvedText() string {
	return "{{ $i := printf `instance=%q` $labels.instance }}" +
		told("max("+metrics.ProberLag+"{%s}) > 0", "$i",
			"In more than 5 % of the last minute's time it ran {{ humanizeDuration .Value }} late or later. ") +
		told(fmt.Sprintf("sum(rate(%s{%%s}[5m])) / sum(rate(%s{%%[1]s}[5m])) > 0", metrics.TurnOwnFaults, metrics.Turns), "$i",
			"It spoiled {{ humanizePercentage .Value }} of the turns of the last 5m. ")
}
