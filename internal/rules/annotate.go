package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
)

// Descriptions are Prometheus templates. setJob sets $j to the matchers of the alert's job for queries.
const setJob = "{{ $j := printf `target=%q,workload=%q` $labels.target $labels.workload }}"

// who begins a summary.
const who = "{{ $labels.target }}/{{ $labels.workload }}: "

// queryCall returns the call of a template's query function. query must not contain a back quote; args
// fill its verbs. A query without args must not contain double quotes.
func queryCall(query, args string) string {
	if args == "" {
		return `query "` + query + `"`
	}
	return "query (printf `" + query + "` " + args + ")"
}

// showFirst returns a template that shows text for the first result of a query, and nothing without a
// result.
func showFirst(query, args, text string) string {
	return "{{ with " + queryCall(query, args) + " }}{{ with first . }}" + text + "{{ end }}{{ end }}"
}

// cutPrompt shows the tokens of a prompt, by the prober that saw the largest cut.
func cutPrompt(prompt, text string) string {
	return showFirst(fmt.Sprintf("max(synthetic_context_cut_%s_tokens{%%[1]s} and on (job, instance) topk(1, synthetic_context_cut_previous_prompt_tokens{%%[1]s} - on (job, instance) synthetic_context_cut_prompt_tokens{%%[1]s}))", prompt), "$j", text)
}

// minEffect is the smallest ratio to the usual that is listed.
const minEffect = 1.1

// sharedJobs selects the jobs of a shared fault.
const sharedJobs = recordIncident + "{" + labelCause + "='" + causeFleet + "'}"

// setSharedReason sets $cause to the most frequent reason of failures in a shared fault, and shows text
// with the number of targets as the value.
func setSharedReason(text string) string {
	return "{{ $cause := `` }}" + showFirst(fmt.Sprintf("topk(1, count by (reason) (group by (target, reason) (%s and on (%s) %s)))", recordFailing, onJob, sharedJobs), "",
		"{{ $cause = .Labels.reason }}"+text)
}

// sharedURL shows the URL of all targets of a shared fault, if they have one.
func sharedURL() string {
	return "{{ with " + queryCall(fmt.Sprintf("count by (url) (%s and on (target) group by (target) (%s))", "synthetic_target_info", sharedJobs), "") + " }}{{ if eq (len .) 1 }}, all at {{ (first .).Labels.url }}{{ end }}{{ end }}"
}

// Waiting is the mean number of requests that wait in the last minute: one reading may find none between two batches.
const Waiting = "avg_over_time(" + metrics.ServerWaiting + "[1m])"

// queued is the mean number of waiting requests from which a server is said to queue.
const queued = 1

// serverCause ends a summary with what a target's own metrics show, if it explains slow or failed turns:
// it has requests and makes no token, or requests wait; "" if no metrics are read. matcher selects the series; args fill its verbs. among
// ends an expression and selects targets. otherwise is shown if neither holds.
func (in Input) serverCause(matcher, args, among, otherwise string) string {
	if !in.serverMetrics() {
		return ""
	}
	stuck := fmt.Sprintf("topk(1, %s%s)", recordStuck+matcher, among)
	waiting := fmt.Sprintf("topk(1, max by (target) (%s) >= %d%s)", strings.Replace(Waiting, "[", matcher+"[", 1), queued, among)
	same := "" // the target that waiting selects
	if among != "" {
		same = " and on (target) " + waiting
	}
	load := func(format, metric, text string) string {
		return showFirst("max by (target) ("+fmt.Sprintf(format, metric+matcher)+same, args, text)
	}
	return "{{ with " + queryCall(stuck, args) + " }}{{ with first . }}; the server is stuck: it has requests, and none got a token for {{ humanizeDuration .Value }}{{ end }}{{ else }}{{ with " +
		queryCall(waiting, args) + " }}{{ with first . }}; the server queues: {{ printf `%.0f` .Value }} requests wait{{ end }}" +
		load("%s) > 0", metrics.ServerRunning, ", {{ printf `%.0f` .Value }} run") +
		load("%s) > 0.5", metrics.ServerKVUse, ", its KV cache is {{ humanizePercentage .Value }} full") +
		load("increase(%s[5m])) >= 1", metrics.ServerPreemptions, ", {{ printf `%.0f` .Value }} preemptions in 5m") +
		"{{ else }}" + otherwise + "{{ end }}{{ end }}"
}

// targetCause is serverCause of the alert's target.
func (in Input) targetCause() string {
	return in.serverCause(ofTarget, "$labels.target", "", "")
}

// fallbackCause says that a gateway answers with its fallback, if it does. It needs setJob.
func fallbackCause() string {
	return showFirst("sum(increase("+metrics.GatewayFallbacks+"{%s}[3m])) > 2", "$j", "; the gateway answers with its fallback")
}

// sharedCause is serverCause of one target of a shared fault.
func (in Input) sharedCause() string {
	return in.serverCause("", "", " and on (target) group by (target) ("+sharedJobs+")", "")
}

// downCause is targetCause. If that says nothing, it says that the server makes no tokens for any client
// (only if the failed turns got none), and that the server's metrics cannot be read. It needs setCause.
func (in Input) downCause() string {
	silent := showFirst("max("+recordNoToken+ofTarget+")", "$labels.target", "; the server made no token for {{ humanizeDuration .Value }}, for any client")
	return in.serverCause(ofTarget, "$labels.target", "",
		fmt.Sprintf("{{ if or (eq $cause %q) (eq $cause %q) }}", probe.TimeoutFirstToken, probe.Stall)+silent+"{{ end }}"+
			showFirst("max("+metrics.ServerMetricsUp+ofTarget+") == 0", "$labels.target", "; the server's metrics cannot be read either"))
}

// ofTarget selects the series of a target. A query must contain it once.
const ofTarget = "{target=%q}"

const effect = "{{ .Labels.signal }} is {{ printf `%.2f` .Value }} times the usual"

// largestEffect describes the largest effect in a few words, with its start. Just after the end of a
// regression there is none. It needs setJob.
func largestEffect() string {
	return "{{ with " + queryCall(RecordEffect+"{%s}", "$j") + " }}{{ with first . }}" + effect + "{{ end }}" + sinceThen() +
		"{{ else }}turns were slower than usual{{ end }}"
}

// effects says for each signal that is slower, the largest effect first: by how much, what is usual, since when, from
// which ratio it pages, and what it reached when the page began; then the likely part.
func effects() string {
	const signal = "{%[1]s,signal=%[2]q}"
	with := func(query, text string) string { return showFirst(query, "$j $s", text) }
	usual := "{{ with $u := " + queryCall("sort_desc(max by (turn) ("+metrics.Baseline+signal+") > 0)", "$j $s") + " }} ({{ range $i, $v := $u }}{{ if $i }}, {{ end }}{{ humanizeDuration $v.Value }} for {{ $v.Labels.turn }} turns{{ end }}){{ end }}"
	since := with("min("+metrics.RegressionSince+signal+" > 0)", ", and it has been slower since {{ (toTime .Value).UTC.Format `2006-01-02 15:04 MST` }}")
	// The score of a page is the logarithm of the ratio when it began, divided by that of the limit.
	reached := with("max("+metrics.RegressionLimit+signal+" ^ on (instance, target, workload, signal) ("+metrics.PageScore+signal+" >= 1))", ", and reached {{ printf `%.2f` .Value }} times")
	limit := with("max("+metrics.RegressionLimit+signal+") > 0", "By its own past of up to four weeks it pages from {{ printf `%.2f` .Value }} times"+reached+". ")
	return "{{ range " + queryCall(fmt.Sprintf("sort_desc(max by (signal) (%s{%%s}) > %s)", metrics.RegressionRatio, num(minEffect)), "$j") + " }}" +
		"{{ $s := .Labels.signal }}Over five minutes " + effect + " of this time of the week" + usual + since + ". " + limit + "{{ end }}" +
		showFirst(RecordPart+"{%s}", "$j", "Likely part: {{ .Labels.part }} ({{ printf `+%.2g` .Value }} s per turn). ")
}

// alsoBurning lists the other objectives that burn.
func alsoBurning() string {
	return "{{ with " + queryCall(recordBurning+"{%s,slo!=%q}", "$j $labels.slo") + " }}Missed as well:{{ range . }} {{ .Labels.slo }} ({{ humanize .Value }} times too fast){{ end }}. {{ end }}"
}

const seenFrom = "{{ with query (printf `topk(5, " + metrics.ConsecutiveFailed + "{%s} > 1)` $j) }}Seen by{{ range . }} {{ .Labels.instance }}{{ end }}. {{ end }}"

func acceptance() string {
	return "If the new level is intended (synthetic run needs --web.enable-lifecycle): synthetic accept --target={{ $labels.target }}" +
		showFirst("min("+metrics.RegressionSince+"{%s} > 0)", "$j", " --since={{ (toTime .Value).UTC.Format `2006-01-02T15:04:05Z` }}")
}

func starvedText() string {
	return "{{ $i := printf `instance=%q` $labels.instance }}" +
		showFirst("max("+metrics.ProberLag+"{%s}) > 0", "$i",
			"In more than 5 % of the last minute it ran at least {{ humanizeDuration .Value }} late. ") +
		showFirst(fmt.Sprintf("sum(rate(%s{%%s}[5m])) / sum(rate(%s{%%[1]s}[5m])) > 0", metrics.TurnOwnFaults, metrics.Turns), "$i",
			"It caused {{ humanizePercentage .Value }} of the turns of the last 5m to fail. ")
}
