package dashboard

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"

	"synthetic/docs/runbooks"
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

func overview(in Input) *board {
	b := newBoard(in, overviewUID, "Overview", "Which targets are in trouble, since when, why, and what is the first step?", varTarget, varWorkload)
	b.WithPanel(b.tiles())
	b.WithPanel(b.chart("TTFT, worst target", "s", "Time to the first token in the last 60 seconds, of the target that is furthest above its usual level now. Dashed: the objective, and the usual level of first turns at this time of day.",
		slices.Concat([]query{
			{"{{target}} p50", worst(summary("synthetic_ttft_window_seconds", "0.5", `,turn="first"`), "ttft")},
			{"{{target}} p95", worst(summary("synthetic_ttft_window_seconds", "0.95", `,turn="first"`), "ttft")},
			{"{{target}} follow-up p95", worst(summary("synthetic_ttft_window_seconds", "0.95", `,turn="followup"`), "ttft")},
			{"usual", worst(`max by (target, workload) (synthetic_baseline_seconds{signal="ttft",turn="first"})`, "ttft")},
		}, in.limits(slo.TTFT, probe.TurnKinds()...))...))
	b.WithPanel(b.chart("TPOT, worst target", "s", "Time per output token after the first in the last 60 seconds, of the target that is furthest above its usual level now.",
		slices.Concat([]query{
			{"{{target}} p50", worst(`max by (target, workload) (synthetic_tpot_window_seconds{quantile="0.5"})`, "tpot")},
			{"{{target}} p95", worst(`max by (target, workload) (synthetic_tpot_window_seconds{quantile="0.95"})`, "tpot")},
			{"usual", worst(`max by (target, workload) (synthetic_baseline_seconds{signal="tpot"})`, "tpot")},
		}, in.limits(slo.TPOT, probe.TurnKinds()...))...).Span(6))
	if len(in.SLOs) > 0 {
		b.WithPanel(stacked(b.failures()).Span(5))
		b.WithPanel(b.budget().Span(5))
	} else {
		b.WithPanel(stacked(b.failures()).Span(10))
	}
	b.WithPanel(b.alerts())
	b.WithPanel(b.targets().Height(9))
	return b
}

func states() texts {
	return texts{"0": {"normal", green}, "1": {"not judged", "purple"}, "2": {"ticket", orange}, "3": {"paging", red}}
}

// tiles are the states of all targets in one row, the twelve worst of a large fleet.
func (b *board) tiles() *stat.PanelBuilder {
	return stat.NewPanelBuilder().Id(b.nextID()).Title("States").Datasource(source()).Span(24).Height(3).Unit("none").
		Description("The state of each target, of the twelve worst if there are more. Paging: an alert pages, or would. Ticket: something is wrong that can wait. Not judged: the prober cannot judge the target.").
		NoValue("no prober is scraped").Thresholds(levels()).
		Mappings([]dashboard.ValueMapping{{ValueMap: states().valueMap()}}).
		ColorMode(common.BigValueColorModeBackgroundSolid).GraphMode(common.BigValueGraphModeNone).
		Orientation(common.VizOrientationVertical).TextMode(common.BigValueTextModeValueAndName).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(22)).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		DataLinks([]cog.Builder[dashboard.DashboardLink]{b.toTarget("__field.labels.")}).
		WithTarget(b.target(0, query{"{{target}} {{workload}}", "topk(12, " + state + ")"}).Instant())
}

func (b *board) budget() *bargauge.PanelBuilder {
	return bargauge.NewPanelBuilder().Id(b.nextID()).Title("Error budget left").Datasource(source()).Height(7).Unit("percentunit").
		Description("What is left of each objective's error budget, of the target that has the least. Below zero it is overspent. In the first ten minutes after the rules were loaded, and without them, it is that of the last day.").
		Min(0).Max(1).Decimals(0).NoValue("too few turns").
		Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps([]dashboard.Threshold{
			{Color: gray}, {Value: new(-1e9), Color: red}, {Value: new(0.01), Color: orange}, {Value: new(0.25), Color: "blue"},
		})).
		Orientation(common.VizOrientationHorizontal).DisplayMode(common.BarGaugeDisplayModeBasic).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		WithTarget(b.target(0, query{"{{slo}}", budgetLeft()}).Instant())
}

// alerts lists the open alerts: the sentence, the figures of the fault, and the first step.
func (b *board) alerts() *table.PanelBuilder {
	step := []dashboard.DynamicConfigValue{mapping(firstSteps()), wrapped()}
	if url := b.in.RunbookURL; url != "" {
		step = append(step, links(link("Runbook", strings.TrimSuffix(url, "/")+"/${__data.fields.alertname}.md")))
	}
	hidden := []dashboard.DynamicConfigValue{property("custom.hidden", true)} // for links
	return b.table("Open alerts", "The most urgent alert of each target, pages first, with the start of the fault and the first step of its runbook. × usual is the ratio to the baseline in the last five minutes, as in the alert. Waiting are the requests of all clients in the server's queue. A target that paged within a day and does not any more is normal since then.",
		"State", []column{
			{"Value #A", "State", "none", 78, []dashboard.DynamicConfigValue{mapping(texts{"0": {"calm", "transparent"}, "1": {"normal", "transparent"}, "2": {"ticket", orange}, "3": {"paging", red}}), cell("color-background")}},
			{"target", "Target", "", 80, []dashboard.DynamicConfigValue{links(b.toTarget("__data.fields."))}},
			{"says", "What happens", "", 185, []dashboard.DynamicConfigValue{mapping(b.in.sentences()), wrapped()}},
			{"Value #C", "× usual", "none", 68, append(coloured(level{1.15, orange}, level{2, red}), decimals(2))},
			{"Value #B", "Since", "time:MMM D, HH:mm", 108, nil},
			{"part", "Cause", "", 100, []dashboard.DynamicConfigValue{mapping(parts()), wrapped()}},
			{"Value #D", "Waiting", "none", 70, []dashboard.DynamicConfigValue{decimals(0)}},
			{"step", "First step", "", 0, step},
			{"workload", "workload", "", 0, hidden}, {"alertname", "alertname", "", 0, hidden},
		},
		`label_join(label_join(`+alertRows+`, "says", "", "alertname", "slo"), "step", "", "alertname")`,
		targetQueries()[1]+` or label_replace(1000 * min(ALERTS_FOR_STATE{alertname=~"Synthetic.*",target=""}), "target", "`+noTarget+`", "", "")`,
		everyTarget(ratio), everyTarget(targetWaiting), everyTarget(targetCause)).
		WithTransformation(dashboard.DataTransformerConfig{Id: "filterByValue", Options: map[string]any{
			"type": "include", "match": "any", "filters": []any{map[string]any{"fieldName": "What happens", "config": map[string]any{"id": "isNotNull", "options": map[string]any{}}}},
		}}).
		CellHeight(common.TableCellHeightLg)
}

// targets lists all targets, the worst first, with what those in trouble may share.
func (b *board) targets() *table.PanelBuilder {
	return b.table("Targets", "All targets, the worst first. Since is the start of the fault, or the end of the last page of a day. × usual is the largest ratio to the baseline in the last five minutes. If many targets are in trouble, look for what they share.",
		"State", b.targetColumns(), targetQueries()...)
}

func (b *board) targetColumns() []column {
	return []column{
		{"target", "Target", "", 0, []dashboard.DynamicConfigValue{links(b.toTarget("__data.fields."))}},
		{"workload", "Workload", "", 0, nil},
		{"Value #A", "State", "none", 90, []dashboard.DynamicConfigValue{mapping(states()), cell("color-background")}},
		{"Value #B", "Since", "time:MMM D, HH:mm", 115, nil},
		{"part", "Likely cause", "", 140, []dashboard.DynamicConfigValue{mapping(parts())}},
		{"Value #C", "TTFT p95", "s", 85, []dashboard.DynamicConfigValue{decimals(2)}},
		{"Value #D", "× usual", "none", 80, append(coloured(level{1.15, orange}, level{2, red}), decimals(2))},
		{"Value #E", "Failed", "percentunit", 75, append(coloured(level{0.01, orange}, level{0.1, red}), decimals(0))},
		{"Value #F", "Waiting", "none", 75, []dashboard.DynamicConfigValue{decimals(0)}},
		{"model", "Model", "", 0, nil},
		{"url", "Address", "", 0, nil},
		{"connection", "Connections", "", 130, nil},
	}
}

func targetQueries() []string {
	return []string{
		state,
		everyTarget("1000 * (" + began + " or " + ended + ")"),
		everyTarget(`max by (target, workload) (synthetic_ttft_window_seconds{quantile="0.95",turn="first"})`),
		everyTarget(ratio),
		everyTarget(failedShare),
		everyTarget(targetWaiting),
		everyTarget(targetCause),
		everyTarget(running + " * on (target) group_left (model, url, connection) topk by (target) (1, max by (target, model, url, connection) (synthetic_target_info))"),
	}
}

func parts() texts {
	return texts{
		"connect": {"connecting", ""}, "queue_prefill": {"queue or prefill", ""}, "queue": {"queue or network", ""}, "prefill": {"prefill", ""},
		"proxy_buffering": {"a proxy that buffers", ""}, "decode": {"decoding", ""}, "connect_error": {"connections fail", ""},
		"timeout_first_token": {"no first token in time", ""}, "stall": {"answers stop", ""}, "http_429": {"refused for load", ""},
		"http_5xx": {"errors 5xx", ""}, "truncated": {"answers are cut", ""},
	}
}

// sentences say what each alert that pages means.
func (in Input) sentences() texts {
	out := texts{
		"Calm": {"Nothing pages, and there is no ticket.", ""}, "Normal": {"It is normal again.", ""},
		"NoProber":                 {"This Prometheus scrapes no prober, so nothing is measured.", ""},
		"NoRules":                  {"This Prometheus has no alert rules of synthetic, and no prober has a pager.", ""},
		"SyntheticTargetDown":      {"It is down: its last turns failed.", ""},
		"SyntheticRegression":      {"It is slower than usual.", ""},
		"SyntheticFleetRegression": {"Many targets share a fault.", ""},
		"SyntheticSLOFastBurn":     {"It spends an error budget too fast.", ""},
		"SyntheticReplicaSlow":     {"A replica is slower than the others of its service.", ""},
		"SyntheticTargetNoSamples": {"It is no longer measured.", ""},
		"SyntheticForeignAnswers":  {"Its answers have text of other conversations.", ""},
		"SyntheticProberSilent":    {"A prober is silent: its targets are not watched.", ""},
		"SyntheticPagerStalled":    {"A prober's pager has stopped.", ""},
	}
	for _, o := range in.SLOs {
		out["SyntheticSLOFastBurn"+o.Name] = [2]string{"It spends the budget of " + o.Name + " too fast.", ""}
		out["SyntheticSLOSlowBurn"+o.Name] = [2]string{"It spends the budget of " + o.Name + " too fast for days.", ""}
	}
	return out
}

// firstSteps are those of the runbooks, as on the status page.
func firstSteps() texts {
	out := texts{"Calm": {unknown, ""}, "Normal": {unknown, ""},
		"NoProber": {"Start a prober, or add it to the scrape configuration.", ""},
		"NoRules":  {"Load the rules of synthetic generate rules.", ""},
	}
	for _, alert := range runbooks.Alerts() {
		first := regexp.MustCompile(`(: |; |\. ).*`).ReplaceAllString(runbooks.FirstStep(alert), ".") // two lines of a row
		out[alert] = [2]string{cmp.Or(first, "See its runbook."), ""}
	}
	return out
}
