package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// keepBurn is how long a page keeps firing without data: longer than a restart of the prober, and longer than
// SyntheticProberSilent needs to fire.
const keepBurn = 15 * time.Minute

// keepFilled replaces keepBurn for jobs with many turns: their windows still exceed the burn rate for some minutes
// after the last data.
const keepFilled = 4 * time.Minute

// recentWindow decides whether a fault still lasts, for jobs with many turns. A page then ends within
// minutes instead of after the tier's short window of half an hour.
const recentWindow = 5 * time.Minute

// slowWait delays the ticket, so that the page comes first. With a short history, a fault of a few minutes fulfils the
// conditions of both.
const slowWait = 10 * time.Minute

// burningExpr returns an expression for the burn rates that are high enough for a page. Alerts for the same fault are
// not considered. Failed turns also miss latency objectives, so a latency objective on all turns is left out if nearly
// all misses of the last hour were failures and an objective of availability covers the job.
func burningExpr(objectives []objective) string {
	var parts []string
	for _, fit := range fits(objectives, slo.Page) {
		parts = append(parts, burningFit(fit, slo.Page))
	}
	return anyOf(parts) + unlessFailures(objectives)
}

const onObjective = "on (" + onJob + ", " + metrics.LabelSLO + ")"

// bySLI returns the names of the objectives by SLI. It leaves out latency objectives on one kind of turn, because
// failures are counted for both kinds together.
func bySLI(objectives []objective) map[string][]string {
	by := map[string][]string{}
	for _, o := range objectives {
		if o.sli() != SLILatency || o.Kind() == "" {
			by[o.sli()] = append(by[o.sli()], o.Name)
		}
	}
	return by
}

// missed selects the number of bad turns of some objectives in the last hour.
func missed(names []string) string {
	return matchers{oneOf(metrics.LabelSLO, names)}.selector(recordViolations(time.Hour))
}

func unlessFailures(objectives []objective) string {
	by := bySLI(objectives)
	if by[SLILatency] == nil || by[SLIAvailability] == nil {
		return ""
	}
	return fmt.Sprintf("\nunless on (%[1]s, %[2]s) %[3]s < on (%[1]s) group_left () 1.25 * (%[4]s and on (%[1]s) %[5]s)", onJob, metrics.LabelSLO,
		missed(by[SLILatency]), increase(perJob(), metrics.TurnFailures, time.Hour), missed(by[SLIAvailability]))
}

// recovered is the number of misses that must be expected in a window without a miss, so that the job counts as
// recovered. If the fault still lasts, a window without a miss has a probability of e^-7, one in a thousand.
const recovered = 7

// afterRecovery is the time after a recovery during which no page of the job ends early again. A fault that comes and
// goes therefore pages a few times an hour at most.
const afterRecovery = 30 * time.Minute

// lately is the window without a miss after which a fault can be over.
const lately = 90 * time.Second

func missesLately() string { return increase(perSLO(), metrics.SLOViolations, lately) }

// recoveredRule records jobs whose fault is over, while the windows of their burn rate still contain it. A recovery
// begins after 90 s without a miss. In the worst five minutes of the last ten, misses must have been so frequent that 90 s
// of them had at least seven. A recovery ends after three misses in 90 s, and with fewer than 20 turns in five minutes,
// which could hide misses. An evaluation that is skipped does not end it.
func recoveredRule() rule {
	return record(recordRecovered, fmt.Sprintf(`(
  %[1]s * %[2]s max_over_time(%[3]s[10m]) * on (%[4]s) group_left () %[5]s > %[6]d
  unless %[2]s %[7]s > 0
  unless %[2]s max_over_time(%[8]s[%[11]s])
  or %[2]s
  last_over_time(%[8]s[2m30s])
  and %[2]s %[10]s >= 20
)
unless %[2]s %[7]s >= 3
and %[2]s %[9]s`, increase(perSLO(), metrics.SLOTurns, lately), onObjective, recordBurnRate(recentWindow), metrics.LabelSLO, recordBudget, recovered,
		missesLately(), recordRecovered, recordBurning, increase(perSLO(), metrics.SLOTurns, 5*time.Minute), slo.FormatDuration(afterRecovery)))
}

// samePage is how long an objective waits after the page of another one of the same SLI.
const samePage = "15m"

// pageBurnRules record the burn rate while it pages. If several objectives of a job have the same SLI, only the first
// one pages, because they have the same cause. The others wait until its page has been over for samePage. They do not
// wait if it recovered and they are still missed. The alert and the holding back of the ticket use the record.
func pageBurnRules(objectives []objective) []rule {
	var parts []string
	for _, fit := range fits(objectives, slo.Page) {
		parts = append(parts, fit.matchers().selector(recordBurning)+fit.when+"\n"+unlessOver(fit.lastWindow(slo.Page)+2*time.Minute))
	}
	before := fmt.Sprintf("last_over_time(%s[%s])", recordPageBurn, samePage)
	return []rule{
		recoveredRule(),
		record(recordMayPage, anyOf(parts)+"\n"+unlessExplained(time.Minute, keepFilled)+"\n"+unlessRecovered(recordRecovered)),
		record(recordPageBurn, fmt.Sprintf(`(%[1]s and on (%[2]s, %[3]s) %[5]s)
or
topk by (%[2]s, %[4]s) (1,
  %[1]s unless on (%[2]s, %[4]s) %[5]s
  or
  %[1]s and on (%[2]s, %[3]s) %[6]s >= 3 unless on (%[2]s, %[4]s) (%[5]s %[7]s)
)`, recordMayPage, onJob, metrics.LabelSLO, labelSLI, before, missesLately(), unlessRecovered(recordRecovered))),
	}
}

func unlessRecovered(series string) string {
	return "unless " + onObjective + " " + series
}

// missingExpr selects jobs that take part in a shared fault because they keep missing an objective. In the last five
// minutes the burn rate was at least half of a page's.
func missingExpr() string {
	return fmt.Sprintf("max by (%s) (%s > 7 and %s %s == 1)", onJob, recordBurnRate(recentWindow), onObjective, aggregate("max", perSLO(), metrics.SLOMissing))
}

// fastBurn returns the page. It needs no "for", because the long window delays it. A recovery or the short window ends
// it. cause is the last part of its summary.
func (in Input) fastBurn(objectives []objective, cause string) rule {
	keep := time.Duration(0)
	for _, fit := range fits(objectives, slo.Page) {
		keep = max(keep, fit.keepFiring())
	}
	a := burnAlert(slo.Page)
	a.Alert = alertSLOFastBurn
	share := fmt.Sprintf("100 * sum(increase(%s{%%s,slo=%%q}[5m])) / (sum(increase(%s{%%[1]s,slo=%%[2]q}[5m])) > 0) > 0", metrics.SLOViolations, metrics.SLOTurns)
	a.Summary = setJob + setBurnCause() + who + "{{ with " + queryCall(share, "$j $labels.slo") + " }}{{ with first . }}{{ if lt .Value 10.0 }}{{ printf `%.2g` .Value }}{{ else }}{{ printf `%.0f` .Value }}{{ end }} %{{ end }}{{ else }}too many{{ end }} of " +
		forObjective(objectives, func(o objective) string { return Miss(o.Objective) }) + whyNow + burnBegan(since, minuteOf) + cause
	kept := func(record string) string {
		return fmt.Sprintf("max_over_time(%s[%s])", record, slo.FormatDuration(keep))
	}
	a.Expr = fmt.Sprintf("(\n  %s\n  or\n  %s\n  %s\n)\n%s", recordPageBurn, kept(recordPageBurn), unlessRecovered(kept(recordRecovered)), andConfigured)
	a.Description = setJob + setBurnCause() + step(a.Alert) + "The objective is that " + forObjective(objectives, objective.statement) +
		". Its error budget goes {{ $value | humanize }} times too fast. " + alsoBurning() + effects()
	return a
}

// slowBurn returns the ticket. After a page for the same fault, it is held back until its short window no longer
// contains the fault.
func slowBurn(objectives []objective) rule {
	a := burnAlert(slo.Ticket)
	a.Description = "Too many turns have missed the objective for days: its error budget will not last."
	a.Alert, a.For, a.Keep = alertSLOSlowBurn, model.Duration(slowWait), model.Duration(keepBurn)
	var parts []string
	for _, fit := range fits(objectives, slo.Ticket) {
		ends := fit.lastWindow(slo.Ticket)
		parts = append(parts, burningFit(fit, slo.Ticket)+"\n"+unlessExplained(ends, ends)+fmt.Sprintf("\nunless on (%s) max_over_time(%s[%s])", onJob, recordPageBurn, slo.FormatDuration(ends)))
	}
	a.Expr = anyOf(parts) + "\n" + andConfigured
	return a
}

func burnAlert(s slo.Severity) rule {
	return rule{
		Severity: s, Dashboard: TargetUID,
		Summary: who + "SLO {{ $labels.slo }} spends its error budget {{ $value | humanize }} times too fast",
	}
}

// burningFit is true while a tier of a severity burns. Its value is the burn rate in the long window of the first
// tier.
func burningFit(fit fit, s slo.Severity) string {
	var parts []string
	for _, t := range fit.tiers(s) {
		parts = append(parts, parenthesised(tier(fit.matchers(), fit, t)))
	}
	return anyOf(parts)
}

// unlessExplained holds a burn rate back during an incident that explains it, and for some time after an outage or a
// regression.
func unlessExplained(outage, regression time.Duration) string {
	return unlessIncident(outage, causeDown, causeFleet) + "\n" +
		fmt.Sprintf("unless on (%s, %s) max_over_time(%s[%s])", onJob, labelSLI, matchers{equals(labelCause, causeSlow)}.selector(recordIncident), slo.FormatDuration(regression))
}

// unlessOver keeps a page from beginning after its fault. If an outage, or a fault that was too short to page, is still
// in a window, a page begins only while turns keep missing the objective.
func unlessOver(window time.Duration) string {
	missing := func(of string) string { return aggregate("max", perSLO(), of) }
	return fmt.Sprintf("unless %[1]s (%[2]s > 0 unless %[3]s == 1 unless %[1]s last_over_time(%[4]s[2m30s]))", onObjective,
		missing("max_over_time("+metrics.SLOMissing+"["+slo.FormatDuration(window)+"])"), missing(metrics.SLOMissing), recordPageBurn)
}

func tier(self matchers, fit fit, t slo.Tier) string {
	burn := num(t.Burn)
	conditions := []string{
		fmt.Sprintf("%s > %s", self.selector(recordBurnRate(t.Long)), burn),
		fmt.Sprintf("%s > %s", self.selector(recordBurnRate(t.Short)), burn),
	}
	if t.Severity == slo.Page && t.Short > recentWindow && fit.filled {
		conditions = append(conditions, fmt.Sprintf("%s > %s", self.selector(recordBurnRate(recentWindow)), num(t.Burn/2)))
	}
	bad := func(window time.Duration, least int) string {
		return fmt.Sprintf("\nand on (%s, %s) %s >= %d", onJob, metrics.LabelSLO, self.selector(recordViolations(window)), least)
	}
	return strings.Join(conditions, "\nand ") + bad(t.Long, t.MinBadLong) + bad(t.Short, t.MinBadShort) + fit.when
}

// anyOf is true while any of the expressions is.
func anyOf(parts []string) string {
	if len(parts) == 1 && strings.HasPrefix(parts[0], "(") && !strings.Contains(parts[0], "\n)\n") {
		return parts[0]
	}
	return parenthesised(strings.Join(parts, "\nor\n"))
}

func parenthesised(s string) string { return "(\n" + indent(s) + "\n)" }

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
