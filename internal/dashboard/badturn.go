package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

// badTurns lists the trace ids that the alerts name.
func badTurns(s scope) panel {
	return panel{
		view: grid{columns: []column{
			{field: metrics.LabelTarget, title: "Target"},
			{field: metrics.LabelWorkload, title: "Workload"},
			{field: metrics.LabelTurn, title: "Turn"},
			{field: metrics.LabelReason, title: "Reason"},
			{field: metrics.LabelTraceID, title: "Trace"},
			{field: "Value", title: "Ended ago", unit: units.Seconds, decimals: 0},
		}},
		title: "Bad turns",
		about: about{
			"A recent bad turn of each kind, with the trace id of the traceparent header that its request sent. It failed, missed an SLO or was far above the usual; the reason says which. Each prober shows its own.",
			"A reason such as stall is a failure; ttft or tpot is a turn that succeeded, late. The entry changes every few minutes at most and goes an hour after the last bad turn.",
			"Look the trace up in those of router and engine: it says where that turn waited. More are in the exemplars of the TTFT.",
		},
		unit:  units.Seconds,
		width: gridColumns, height: 6,
		empty: "no bad turn within the hour",
		queries: []query{{
			expr:   s.age(append(perTurn(), metrics.LabelReason, metrics.LabelTraceID), metrics.BadTurn),
			legend: "{{trace_id}}", instant: true, format: prometheus.PromQueryFormatTable,
		}},
	}
}
