package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
)

// Cause is why the turns of a target fail or are slow: the reason of failures, or the likely part of slow turns. Alerts,
// the status page and the dashboards show the same words: a few of them, a sentence for failures, and what to do first.
type Cause struct{ Text, Meaning, Step string }

//go:embed causes.yml
var causesText []byte

type knowledge struct {
	Causes              map[string]Cause
	Steps, Misses, Says map[string]string
}

var known = sync.OnceValue(func() (k knowledge) {
	if err := yaml.Unmarshal(causesText, &k); err != nil {
		panic(err) // the file is built in
	}
	return k
})

// Causes returns the causes by the reason of failed turns or the part of slow ones.
func Causes() map[string]Cause { return known().Causes }

// Steps returns what to do first about each alert, if its cause has no step of its own.
func Steps() map[string]string { return known().Steps }

// Says returns what each alert means, in a few words.
func Says() map[string]string { return known().Says }

// Advice says what a failure means and what to do first; "" for other outcomes.
func Advice(o probe.Outcome) string {
	c, ok := Causes()[string(o)]
	if !ok {
		return ""
	}
	return c.Meaning + " " + c.Step
}

const (
	// AllFail begins a share of turns: all of them, after three consecutive failures and half a minute. The turns before an
	// outage say nothing about it, and in an outage each conversation ends with its first turn.
	AllFail = "(" + inARow + " > bool 2 and on (" + onJob + ") min by (" + onJob + ") (" + outage + ")) > 0 or on (" + onJob + ") "
	// FailedShare is the share of the turns of each job that failed in five minutes. The prober's own faults and ends do
	// not count.
	FailedShare = AllFail + "sum by (" + onJob + ") (increase(" + metrics.TurnFailures + "[5m])) / (sum by (" + onJob + ") (increase(" + metrics.Turns + "[5m]))" +
		" - sum by (" + onJob + ") (increase(" + metrics.TurnsCanceled + "[5m])) - sum by (" + onJob + ") (increase(" + metrics.TurnOwnFaults + "[5m])) > 0)"

	// failures counts the failed turns of each job by reason: those of the last minute, or of three minutes without one. A
	// fault of another kind may have ended just before. Its verb takes matchers.
	failures   = failuresIn + "[1m])) > 0 or on (" + onJob + ") " + failuresIn + "[3m])) > 0"
	failuresIn = "sum by (" + onJob + ", " + metrics.LabelReason + ") (increase(" + metrics.TurnFailures + "%[1]s"

	inARow = "min by (" + onJob + ") (" + metrics.ConsecutiveFailed + ")"
	// outage holds if nothing else has come for half a minute: where a part of the turns fails, a few fail in a row.
	outage = metrics.Failing + " > 30"

	// someFail selects jobs of which a twentieth of the turns failed. A failed turn ends its conversation, which has one
	// series instead of one for each reason.
	someFail = "sum by (" + onJob + ") (increase(synthetic_conversation_failures_total[5m])) / sum by (" + onJob + ") (increase(" + metrics.Turns + "[5m])) > 0.05"
)

// Began returns the Unix time at which the fault of a job began: its failures, all or a part of the turns; else its
// regression; else the misses of an objective. An alert lasts some minutes longer than its fault, whose start is then
// remembered.
func Began(objectives bool) string {
	const orElse = " or on (" + onJob + ") "
	const start = "timestamp(" + metrics.Failing + ") - ignoring (__type__, __unit__) (" + outage + ")"
	failed := "min by (" + onJob + ") (" + start + " or last_over_time((" + start + ")[3m:30s])) and on (" + onJob +
		") min by (" + onJob + ") (max_over_time(" + metrics.ConsecutiveFailed + "[3m])) > 2" // the steps of the subquery are up to 30 s old
	missed := ""
	if objectives {
		since := "min by (" + onJob + ") (" + metrics.SLOMissingSince + " > 0)"
		failed, missed = failed+orElse+"("+since+" and on ("+onJob+") "+someFail+")", orElse+since
	}
	return failed + orElse + "min by (" + onJob + ") (" + metrics.RegressionSince + " > 0)" + missed +
		orElse + "min by (" + onJob + ") (last_over_time((" + metrics.RegressionSince + " > 0)[5m:30s]))"
}

// Failing returns the most frequent reason of the failures of each job, if the last three turns or a twentieth of the
// turns failed. Refusals for load are no outage.
func Failing() string {
	refused := fmt.Sprintf(failuresIn, "{"+metrics.LabelReason+`="`+string(probe.HTTP429)+`"}`) + "[3m])) > 0 and on (" + onJob + ") " + inARow + " > 2"
	return fmt.Sprintf("topk by (%[1]s) (1, (%[2]s) unless on (%[1]s, reason) (%[3]s)) and on (%[1]s) (%[4]s > 2 or on (%[1]s) %[5]s)",
		onJob, fmt.Sprintf(failures, ""), refused, inARow, someFail)
}

// setCause sets $cause to the reason of the failures of the alert's job now, else to the likely part of its slower turns,
// else to "". It needs setJob.
func setCause() string { return setCauseUnless("") }

// setBurnCause is setCause of a missed objective: the failures of an outage that is over are not its cause.
func setBurnCause() string {
	return setCauseUnless(fmt.Sprintf(" unless on (%s) (max_over_time(%s{%s='%s'}[5m]) and on (%[1]s) min by (%[1]s) (max_over_time(%[5]s[30s])) == 0)",
		onJob, recordIncident, labelCause, causeDown, metrics.ConsecutiveFailed))
}

func setCauseUnless(over string) string {
	return "{{ $cause := `` }}" + showFirst(recordFailing+"{%s}"+over+" or on ("+onJob+") "+RecordPart+"{%[1]s}", "$j", "{{ $cause = print .Labels.reason .Labels.part }}")
}

// whyNow shows the cause. It needs setCause.
const whyNow = "{{ if $cause }} ({{ $cause }}){{ end }}"

// step says what the failures of $cause mean, and what to do first about an alert. An outage and a shared fault are
// failures, a regression is slow in some part. What turns miss an objective for is in the description of a burn rate.
func step(alert string) string {
	byStep := map[string][]string{}
	for name, c := range Causes() {
		switch failed := c.Meaning != ""; {
		case alert == alertSLOFastBurn:
			c.Meaning = ""
		case failed == (alert == AlertRegression):
			continue
		}
		text := strings.TrimSpace(c.Meaning + " First step: " + c.Step)
		byStep[text] = append(byStep[text], name)
	}
	out, branch := "", "{{ if "
	for _, text := range slices.Sorted(maps.Keys(byStep)) {
		slices.Sort(byStep[text])
		out += branch + "eq $cause `" + strings.Join(byStep[text], "` `") + "` }}" + text
		branch = "{{ else if "
	}
	return out + "{{ else }}First step: " + Steps()[alert] + "{{ end }} "
}

// began shows the start of the fault of the alert's job after a text, in a layout of time. It needs setJob.
func began(text, layout string) string {
	return showFirst(recordBegan+"{%s}", "$j", text+"{{ (toTime .Value).UTC.Format `"+layout+"` }}")
}

// burnBegan is began of a missed objective, with the first of its misses if it is known.
func burnBegan(text, layout string) string {
	return showFirst("min("+metrics.SLOMissingSince+"{%[1]s,slo=%[2]q} > 0) or max("+recordBegan+"{%[1]s})", "$j $labels.slo", text+"{{ (toTime .Value).UTC.Format `"+layout+"` }}")
}

// since and minuteOf show the start of a fault at the end of a summary.
const since, minuteOf = " since ", "15:04 MST"

// sinceThen ends a summary with the start of the fault.
func sinceThen() string { return began(since, minuteOf) }

// WithCause returns the alerts about a fault of a target, whose cause says what to do first.
func WithCause() []string { return []string{AlertTargetDown, AlertRegression, alertSLOFastBurn} }

// fields are the annotations from which the status page and receivers make texts of their own: the cause, and the start
// of the fault.
func (r rule) fields() map[string]string {
	switch {
	case r.Alert == alertSLOFastBurn:
		return map[string]string{AnnotationCause: setJob + setBurnCause() + "{{ $cause }}", AnnotationSince: setJob + burnBegan("", time.RFC3339)}
	case slices.Contains(WithCause(), r.Alert):
		return map[string]string{AnnotationCause: setJob + setCause() + "{{ $cause }}", AnnotationSince: setJob + began("", time.RFC3339)}
	case r.Alert == AlertFleetRegression:
		return map[string]string{AnnotationCause: setSharedReason("") + "{{ $cause }}"}
	}
	return map[string]string{}
}

// StepOf returns what to do first about an alert with a cause, "" for an alert of others.
func StepOf(alert, cause string) string { return cmp.Or(Causes()[cause].Step, Steps()[alert]) }
