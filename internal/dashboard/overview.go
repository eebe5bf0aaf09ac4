package dashboard

import (
	"maps"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

func overview(in Input) *board {
	b := newBoard(in, overviewUID, "Overview", "Which targets are in trouble, since when, why, and what is the first step?", varTarget, varWorkload)
	b.WithPanel(b.tiles())
	b.WithPanel(b.chart("TTFT, worst target", "s", "Time to the first token in the last 60 seconds, of the target that is furthest above its usual level now. Dashed: the objective, and the usual level of first turns at this time of day.",
		append(in.limits(slo.TTFT, probe.TurnKinds()...),
			query{"{{target}} p50", worst(`synthetic_ttft_window_seconds{quantile="0.5",turn="first"}`, "ttft")}, query{"{{target}} p95", worst(`synthetic_ttft_window_seconds{quantile="0.95",turn="first"}`, "ttft")},
			query{"{{target}} follow-up p95", worst(`synthetic_ttft_window_seconds{quantile="0.95",turn="followup"}`, "ttft")}, query{"usual", worst(`synthetic_baseline_seconds{signal="ttft",turn="first"} > 0`, "ttft")})...))
	b.WithPanel(b.chart("TPOT, worst target", "s", "Time per output token after the first in the last 60 seconds, of the target that is furthest above its usual level now.",
		append(in.limits(slo.TPOT, probe.TurnKinds()...),
			query{"{{target}} p50", worst(`synthetic_tpot_window_seconds{quantile="0.5"}`, "tpot")}, query{"{{target}} p95", worst(`synthetic_tpot_window_seconds{quantile="0.95"}`, "tpot")},
			query{"usual", worst(`synthetic_baseline_seconds{signal="tpot"} > 0`, "tpot")})...).Span(6))
	if b.WithPanel(stacked(b.failures()).Span(5)); len(in.SLOs) > 0 {
		b.WithPanel(b.budget().Span(5))
	}
	b.WithPanel(b.alerts())
	b.WithPanel(b.table("Targets", "All targets, the worst first. Since is the start of the fault (of its failures, else of its regression, else of its alert), or the end of the last page of a day. × usual is the largest ratio to the baseline in the last five minutes. If many targets are in trouble, look for what they share.",
		"State", b.targetColumns(), b.in.targetQueries()...).Height(9))
	return b
}

func states() texts {
	return texts{"0": "normal", "1": "not judged", "2": "ticket", "3": "paging"}
}

// tiles are the states of all targets in one row, the twelve worst of a large fleet.
func (b *board) tiles() *stat.PanelBuilder {
	return stat.NewPanelBuilder().Id(b.nextID()).Title("States").Datasource(source()).Span(24).Height(3).Unit("none").
		Description("The state of each target, of the twelve worst if there are more. Paging: an alert pages, or would. Ticket: something is wrong that can wait. Not judged: the prober cannot judge the target.").
		NoValue("no prober is scraped").Mappings([]dashboard.ValueMapping{{ValueMap: states().valueMap()}}).
		ColorMode(common.BigValueColorModeBackgroundSolid).GraphMode(common.BigValueGraphModeNone).TextMode(common.BigValueTextModeValueAndName).
		Orientation(common.VizOrientationVertical).Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(22)).
		ReduceOptions(lastValue()).DataLinks([]cog.Builder[dashboard.DashboardLink]{b.toTarget("__field.labels.")}).
		WithTarget(b.target(0, query{"{{target}} {{workload}}" + b.kept(), "topk(12, " + state + ")"}).Instant())
}

func lastValue() *common.ReduceDataOptionsBuilder {
	return common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})
}

func (b *board) budget() *bargauge.PanelBuilder {
	return bargauge.NewPanelBuilder().Id(b.nextID()).Title("Error budget left").Datasource(source()).Height(7).Unit("percentunit").
		Description("The error budget that is left, one bar for each objective. The bar shows the target with the least. Below zero the budget is overspent; -100 % means that at least twice the budget was spent. Without the rules, and in their first ten minutes, the bar shows the last day.").
		Min(0).Max(1).Decimals(0).NoValue("too few turns").
		Thresholds(steps(dashboard.Threshold{Color: gray}, dashboard.Threshold{Value: new(-1e9), Color: red}, dashboard.Threshold{Value: new(0.01), Color: orange}, dashboard.Threshold{Value: new(0.25), Color: "blue"})).
		Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		ReduceOptions(lastValue()).
		WithTarget(b.target(0, query{"{{slo}}" + b.kept(), budgetLeft}).Instant())
}

// alerts lists the open alerts: the sentence, the figures of the fault, and the first step.
func (b *board) alerts() *table.PanelBuilder {
	step := []dashboard.DynamicConfigValue{mapping(firstSteps()), cell("auto")}
	if url := b.in.RunbookURL; url != "" {
		step = append(step, linked(link("Runbook", strings.TrimSuffix(url, "/")+"/${__data.fields.alertname}.md")))
	}
	bad := failedShare
	if len(b.in.SLOs) > 0 {
		bad = badTurns
	}
	hidden := property("custom.hidden", true) // for links
	return b.table("Open alerts", "The most urgent alert of each target, pages first, with the start of the fault, its cause and the first step. × usual is the ratio to the baseline in the last five minutes, as in the alert. Bad turns are the share that failed or missed an objective in these minutes, of the most missed one. Requests waiting are those of all clients in the server's queue. A target that paged within a day and does not any more is normal since then.",
		"State", []column{
			col("Value #A", "State", "none", 96, mapping(texts{"-1": "see there", "0": "calm", "1": "normal since", "2": "ticket", "3": "paging"}), cell("color-background")),
			col("target", "Target", "", 75, linked(b.toTarget("__data.fields."))), col("says", "What happens", "", 165, mapping(b.in.sentences()), cell("auto")),
			col("Value #C", "× usual", "none", 68, coloured(2, 1.15, 2)...), col("Value #E", "Bad turns", "percentunit", 80, coloured(0, 0.01, 0.1)...), col("Value #B", "Since", date, 104), col("part", "Cause", "", 92, mapping(causes()), cell("auto")),
			col("Value #D", "Requests waiting", "none", 140, decimals(0)), col("step", "First step", "", 0, step...), col("workload", "workload", "", 0, hidden), col("alertname", "alertname", "", 0, hidden),
		},
		causedRows(),
		b.in.targetQueries()[1]+` or label_replace(1000 * min(ALERTS_FOR_STATE{alertname=~"Synthetic.*",target=""}), "target", "`+noTarget+`", "", "")`,
		everyTarget(ratio), everyTarget(targetWaiting), everyTarget(bad)).
		WithTransformation(dashboard.DataTransformerConfig{Id: "filterByValue", Options: map[string]any{
			"type": "include", "match": "any", "filters": []any{map[string]any{"fieldName": "What happens", "config": map[string]any{"id": "isNotNull", "options": map[string]any{}}}},
		}}).
		CellHeight(common.TableCellHeightLg)
}

// kept adds the kept labels to a legend.
func (b *board) kept() (legend string) {
	for _, l := range b.in.KeepLabels {
		legend += " {{" + l + "}}"
	}
	return legend
}

func (b *board) targetColumns() []column {
	return []column{
		col("target", "Target", "", 0, linked(b.toTarget("__data.fields."))), col("workload", "Workload", "", 0), col("Value #A", "State", "none", 90, mapping(states()), cell("color-background")),
		col("Value #B", "Since", date, 115), col("part", "Likely cause", "", 140, mapping(causes())), col("Value #C", "TTFT p95", "s", 85, decimals(1)),
		col("Value #D", "× usual", "none", 80, coloured(2, 1.15, 2)...), col("Value #E", "Failed", "percentunit", 75, coloured(0, 0.01, 0.1)...), col("Value #F", "Requests waiting", "none", 140, decimals(0)),
		col("model", "Model", "", 0), col("url", "Address", "", 0), col("connection", "Connections", "", 130),
	}
}

func (in Input) targetQueries() []string {
	return []string{
		state, everyTarget("1000 * (" + in.began() + " or " + ended + ")"),
		everyTarget(`max by (target, workload) (synthetic_ttft_window_seconds{quantile="0.95",turn="first"})`), everyTarget(ratio), everyTarget(failedShare), everyTarget(targetWaiting), targetCause(),
		everyTarget(running + " * on (target) group_left (model, url, connection) topk by (target) (1, max by (target, model, url, connection) (synthetic_target_info))"),
	}
}

// causes are the words for causes, as in the alerts.
func causes() texts {
	out := texts{"unknown": unknown}
	for name, c := range rules.Causes() {
		out[name] = c.Text
	}
	return out
}

// sentences say what each alert means.
func (in Input) sentences() texts {
	out := texts(maps.Clone(rules.Says()))
	maps.Copy(out, texts{
		"Calm": "Nothing pages, and there is no ticket.", "Normal": "It is normal again.", "NoProber": "No prober is scraped here.",
		"Pager": "The status page has the pager's alerts.", "NoRules": "No rules are loaded, no pager runs.",
	})
	for _, o := range in.SLOs {
		out["SyntheticSLOFastBurn"+o.Name], out["SyntheticSLOSlowBurn"+o.Name] = "It misses SLO "+o.Name+" too often.", "It has missed SLO "+o.Name+" for days."
		out["SyntheticSLONoSamples"+o.Name] = "SLO " + o.Name + " judges none of its turns."
	}
	return out
}

// firstSteps are those of the alerts, by cause or alert.
func firstSteps() texts {
	out := texts(maps.Clone(rules.Steps()))
	for name, c := range rules.Causes() {
		out[name] = c.Step
	}
	maps.Copy(out, texts{"Calm": unknown, "Normal": unknown, "Pager": "Open the status page of the prober.", "NoProber": "Start a prober, or add it to the scrape configuration.", "NoRules": "Load what synthetic generate rules writes."})
	return out
}
