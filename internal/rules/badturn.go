package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
)

// badTurnText is the sentence of an annotation that names the latest bad turn
// of the alert's labels, as far as they are those of the metric: rules see no
// exemplars. Several probers and both kinds of turn may show one each; the one
// that ended last counts. The value of the metric is when it ended.
func badTurnText(by []string) string {
	query := fmt.Sprintf("topk(1, max by (turn, reason, trace_id) (%s{%s}))", metrics.BadTurn, same(by))
	return fmt.Sprintf("{{ with printf `%s` $labels.%s | query }}{{ with first . }}"+
		"Latest bad turn: trace {{ .Labels.trace_id }} ({{ .Labels.turn }} turn, {{ .Labels.reason }}, ended {{ humanizeTimestamp .Value }})."+
		"{{ end }}{{ else }}No bad turn of the last hour is known.{{ end }}", query, strings.Join(by, " $labels."))
}
