package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Every fault has one figure: the ratio, the start and the part are the series that alerts and the status page show.
const (
	running  = `group by (target, workload) (synthetic_scheduler_heartbeat_timestamp_seconds)`
	firing   = `alertname=~"Synthetic.*",alertstate="firing"`
	onTarget = `target!=""`

	// What pages without rules, and opens a ticket. Rules decide about regressions, if they are loaded.
	down = `(min by (target, workload) (synthetic_consecutive_failed_turns) > 2 and max by (target, workload) (synthetic_failing_seconds) >= 40)`
	slow = `(` + rules.PageVotes + ` >= 1 unless on (target, workload) target_workload:synthetic_configured:max)`

	slower = `(` + rules.TicketVotes + ` >= 1 unless on (target, workload) target_workload:synthetic_configured:max)`

	pages = `(group by (target, workload) (ALERTS{` + firing + `,severity="page",` + onTarget + `}) or group by (target, workload) (target_workload_cause:synthetic_incident:max)` +
		` or group by (target, workload) (` + down + `) or group by (target, workload) (` + slow + `))`
	tickets = `(group by (target, workload) (ALERTS{` + firing + `,severity="ticket",` + onTarget + `})` +
		` or group by (target, workload) (` + slower + `))`
	// state is the first of these that holds. A prober that is gone for less than a day leaves its jobs unjudged.
	state = pages + ` * 3 or ` + tickets + ` * 2 or (min by (target, workload) (synthetic_prober_starved) == 1) or ` +
		running + ` * 0 or group by (target, workload) (target_workload:synthetic_configured:max)`

	// alertBegan is the Unix time at which an alert about a target began.
	alertBegan = `min by (target, workload) (ALERTS_FOR_STATE{alertname=~"Synthetic.*",` + onTarget + `} and on (alertname, target, workload, slo) ALERTS{` + firing + `})`
	// ended is the Unix time at which the last page of a day about a target ended.
	ended = `(max by (target, workload) (max_over_time(timestamp(ALERTS{` + firing + `,severity="page",` + onTarget + `})[1d:30s])) unless on (target, workload) ` + pages + `)`

	ratio     = `max by (target, workload) (synthetic_regression_ratio > 0)`
	ratioTTFT = `max by (target, workload) (synthetic_regression_ratio{signal="ttft"} > 0)`
	ratioTPOT = `max by (target, workload) (synthetic_regression_ratio{signal="tpot"} > 0)`
	// likelyPart is that of the alerts, also without rules: decoding, if the TPOT has the largest effect; otherwise the larger of the
	// other parts, unless the TPOT rose almost as much as the TTFT.
	likelyPart = `(` + rules.RecordPart + ` or on (target, workload) (max by (target, workload, part) (synthetic_excess_seconds{part="decode"} > 0) and on (target, workload) (` + ratioTPOT + ` > 1.1 unless ` + ratioTTFT + ` > ` + ratioTPOT + `)` +
		` or topk by (target, workload) (1, max by (target, workload, part) (synthetic_excess_seconds{part!="decode"} > 0) and on (target, workload) (` + ratioTTFT + ` > 1.1 unless ` + ratioTPOT + ` > ` + ratioTTFT + ` ^ 0.75))))`
	failedShare   = rules.FailedShare
	badTurns      = rules.AllFail + `max by (target, workload) (sum by (target, workload, slo) (increase(synthetic_slo_violations_total[5m])) / (sum by (target, workload, slo) (increase(synthetic_slo_turns_total[5m])) > 0))`
	targetWaiting = running + ` * 0 + on (target) group_left () max by (target) (` + rules.Waiting + `)`
)

// began is the Unix time at which the fault of a target began, or its alert.
func (in Input) began() string {
	return `((` + rules.Began(len(in.SLOs) > 0) + ` or on (target, workload) ` + alertBegan + `) and on (target, workload) (` + pages + ` or ` + tickets + `))`
}

// cause is that of the alerts: the reason of failures, else the likely part.
func cause() string {
	return `label_replace(` + rules.Failing() + `, "part", "$1", "reason", "(.*)") or on (target, workload) ` + likelyPart
}

func targetCause() string {
	return `group by (target, workload, part) (` + cause() + `) and on (target, workload) (` + pages + ` or ` + tickets + `) or on (target, workload) label_replace(` + running + `, "part", "unknown", "", "")`
}

// causedRows are alertRows with the cause as the label part, and the label step: the cause, if it has a step of its own
// for the alert, else the alert.
func causedRows() string {
	replace := func(of, to, from string) string {
		return `label_replace(` + of + `, "step", "` + to + `", "step", "` + from + `")`
	}
	rows := targetRows + ` * on (target, workload) group_left (part) group by (target, workload, part) (` + cause() + `) or on (target, workload) label_replace(` + targetRows + `, "part", "unknown", "", "") or label_replace(` + otherRows + `, "part", "unknown", "", "")`
	joined := `label_join(label_join(` + rows + `, "says", "", "alertname", "slo"), "step", ":", "alertname", "part")`
	return replace(replace(replace(joined, "$1", "(.*):unknown"), "$1", "(?:"+strings.Join(rules.WithCause(), "|")+"):(.*)"), "$1", "(.*):.*")
}

// targetRows are the most urgent alert of each target, or that it is normal again; otherRows the alerts without a target,
// and what is wrong with the alerts themselves. The value sorts them. The alerts of an embedded pager are not in this
// Prometheus.
const targetRows = `(group by (target, workload, alertname, slo) (ALERTS{` + firing + `,severity="page",` + onTarget + `}) * 3` +
	` or on (target, workload) label_replace(` + down + ` * 0 + 3, "alertname", "SyntheticTargetDown", "", "")` +
	` or on (target, workload) label_replace(` + slow + ` * 0 + 3, "alertname", "SyntheticRegression", "", "")` +
	` or on (target, workload) group by (target, workload, alertname, slo) (ALERTS{` + firing + `,severity="ticket",` + onTarget + `}) * 2` +
	` or on (target, workload) label_replace(` + slower + ` * 0 + 2, "alertname", "SyntheticRegression", "", "")` +
	` or on (target, workload) label_replace(` + ended + ` * 0 + 1, "alertname", "Normal", "", ""))`

const otherRows = `label_replace(group by (alertname) (ALERTS{` + firing + `,severity="page",target=""}) * 3 or group by (alertname) (ALERTS{` + firing + `,severity="ticket",target=""}) * 2` +
	` or label_replace(absent(synthetic_scheduler_heartbeat_timestamp_seconds) * 2, "alertname", "NoProber", "", "")` +
	` or label_replace(absent(target_workload:synthetic_configured:max or synthetic_pager_stalled) * 2, "alertname", "NoRules", "", "")` +
	` or label_replace(group(synthetic_pager_stalled) * -1 unless on () target_workload:synthetic_configured:max, "alertname", "Pager", "", "")` +
	` or label_replace((group(target_workload:synthetic_configured:max) unless on () (ALERTS{` + firing + `} or ` + down + ` or ` + slow + ` or ` + slower + `)) * 0, "alertname", "Calm", "", ""), "target", "` + noTarget + `", "", "")`

const (
	noTarget = "(all)" // instead of the target of an alert without one
	// budgetLeft is the share of the error budget that is left, of the worst target. Until the recorded series begins,
	// ten minutes after the rules were loaded, it is computed from the last day, if that has 300 turns. In a young system the ratio says little below -1.
	budgetLeft = `clamp_min(min by (slo) (target_workload_slo:synthetic_slo_budget_remaining:ratio) or min by (slo) (1 - sum by (target, workload, slo) (increase(synthetic_slo_violations_total[1d]))` +
		` / (sum by (target, workload, slo) (increase(synthetic_slo_turns_total[1d])) > 300) / on (slo) group_left () (1 - max by (slo) (synthetic_slo_objective_ratio))), -1)`
)

// everyTarget adds a row with NaN where a value is unknown. Grafana's merge of tables leaves out all columns if the
// answer to one query is empty.
func everyTarget(expr string) string {
	return "(" + expr + ") or on (target, workload) " + running + " * NaN"
}

// worst selects the target that is furthest above its usual level at the end of the time range; without a baseline, the
// slowest one. Of several probers the largest value counts.
func worst(series, signal string) string {
	return fmt.Sprintf(`max by (target, workload) (%s) and on (target, workload) topk(1, max by (target, workload) (synthetic_regression_ratio{signal=%[2]q} @ end()) > 0`+
		` or on () max by (target, workload) (synthetic_%[3]s_window_seconds{quantile="0.95"} @ end()))`, series, signal, signal)
}

// quantiles returns the p50, p95 and p99 of the last 60 seconds, of the prober with the largest.
func quantiles(family, matchers string) (out []query) {
	for _, q := range [][2]string{{"p50", "0.5"}, {"p95", "0.95"}, {"p99", "0.99"}} {
		out = append(out, query{q[0], fmt.Sprintf("max(%s{quantile=%q%s})", family, q[1], matchers)})
	}
	return out
}

// limits returns the thresholds of the objectives on an SLI that apply to all sizes of these kinds of turns.
func (in Input) limits(sli slo.SLI, kinds ...probe.TurnKind) (out []query) {
	for _, o := range in.SLOs {
		if o.SLI == sli && !o.Sized() && (len(o.Turns) == 0 || slices.ContainsFunc(kinds, func(k probe.TurnKind) bool { return slices.Contains(o.Turns, k) })) {
			out = append(out, query{"SLO " + o.Name, fmt.Sprintf("max(%s{slo=%q})", metrics.SLOThreshold, o.Name)})
		}
	}
	return out
}

func perMinute(by, family string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval])) * 60", by, family)
}

// share divides the rates of two families.
func share(by, family, of string) string {
	return fmt.Sprintf("sum by (%[1]s) (rate(%[2]s[$__rate_interval])) / (sum by (%[1]s) (rate(%[3]s[$__rate_interval])) > 0)", by, family, of)
}
