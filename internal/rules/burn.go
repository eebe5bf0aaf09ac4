package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// keepBurn is how long a page keeps firing without data. It covers a restart of the prober and the
// time until SyntheticProberSilent fires.
const keepBurn = 15 * time.Minute

// keepFilled replaces keepBurn for jobs with many turns, whose windows still hold for some minutes
// after their data have ended.
const keepFilled = 4 * time.Minute

// recentWindow decides whether a fault still lasts, for jobs with many turns. A page then ends within
// minutes instead of after the tier's short window of half an hour.
const recentWindow = 5 * time.Minute

// slowWait delays the ticket, so that the page comes first. With a short history, a fault of minutes
// fulfils the conditions of both.
const slowWait = 10 * time.Minute

// pageBurnRule records the burn rate while it pages. The alert shows it, and it holds back a ticket
// afterwards.
func pageBurnRule(objectives []objective) rule {
	var parts []string
	for _, fit := range fits(objectives, slo.Page) {
		parts = append(parts, burning(fit, slo.Page, fit.lastWindow(slo.Page)+2*time.Minute))
	}
	return record(recordPageBurn, anyOf(parts)+"\n"+unlessFailing)
}

// fastBurn returns the page. It needs no "for": the long window delays it, the short window ends it.
func fastBurn(objectives []objective) rule {
	keep := time.Duration(0)
	for _, fit := range fits(objectives, slo.Page) {
		keep = max(keep, fit.keepFiring())
	}
	a := burnAlert(objectives, slo.Page)
	a.Alert = alertSLOFastBurn
	a.Expr = fmt.Sprintf("max_over_time(%s[%s])\n%s", recordPageBurn, slo.FormatDuration(keep), andConfigured)
	// Turns that are bad only for other objectives are left out.
	others := forObjective(objectives, func(o objective) string { return fmt.Sprintf("{{ $r = %q }}", strings.Join(otherThan(o.SLI), "|")) })
	a.Description = setJob + "Too many turns miss the objective that " + forObjective(objectives, objective.statement) + ". " +
		showFirst(fmt.Sprintf("sum(rate(%s{%%s,slo=%%q}[5m])) / sum(rate(%s{%%[1]s,slo=%%[2]q}[5m])) > 0", metrics.SLOViolations, metrics.SLOTurns), "$j $labels.slo",
			"In the last 5m, {{ humanizePercentage .Value }} of the turns did. ") + effects() + "{{ $r := `` }}" + others + badTurn(",reason!~%q", "$r")
	return a
}

// slowBurn returns the ticket. After a page for the same fault it waits until its short window no longer
// contains the fault.
func slowBurn(objectives []objective) rule {
	a := burnAlert(objectives, slo.Ticket)
	a.Description = "Too many turns have missed the objective for days: its error budget will not last."
	a.Alert, a.For, a.Keep = alertSLOSlowBurn, model.Duration(slowWait), model.Duration(keepBurn)
	var parts []string
	for _, fit := range fits(objectives, slo.Ticket) {
		ends := fit.lastWindow(slo.Ticket)
		parts = append(parts, burning(fit, slo.Ticket, ends)+fmt.Sprintf("\nunless max_over_time(%s[%s])", recordPageBurn, slo.FormatDuration(ends)))
	}
	a.Expr = anyOf(parts) + "\n" + andConfigured
	return a
}

func burnAlert(objectives []objective, s slo.Severity) rule {
	var windows []string
	for _, fit := range fits(objectives, s) {
		windows = append(windows, fit.subject()+explain(fit, s))
	}
	return rule{
		Severity: s, Dashboard: dashboardTarget, Windows: strings.Join(windows, " "),
		Summary: "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} spends its error budget {{ $value | humanize }} times too fast",
	}
}

// burning holds while a tier of a severity burns and no recent incident explains it. Its value is the
// burn rate in the long window of the first tier.
func burning(fit fit, s slo.Severity, after time.Duration) string {
	var parts []string
	for _, t := range fit.tiers(s) {
		parts = append(parts, parenthesised(tier(fit.matchers(), fit, t)))
	}
	return anyOf(parts) + "\n" + unlessIncident(after, causeDown, causeFleet) + "\n" +
		fmt.Sprintf("unless on (%s, %s) max_over_time(%s[%s])", onJob, labelSLI, matchers{equals(labelCause, causeSlow)}.selector(recordIncident), slo.FormatDuration(after))
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

// explain describes when an alert fires, and how its windows differ from the default.
func explain(fit fit, s slo.Severity) string {
	var parts []string
	for _, t := range fit.tiers(s) {
		parts = append(parts, fmt.Sprintf("%s× over %s and %s (%s %% of the budget; at least %d and %d bad turns)",
			num(t.Burn), slo.FormatDuration(t.Long), slo.FormatDuration(t.Short), percent(t.Share), t.MinBadLong, t.MinBadShort))
	}
	return strings.Join(append([]string{"Fires at " + strings.Join(parts, ", or at ") + "."}, fit.notes(s)...), " ")
}

// percent formats a share in percent with at most one decimal.
func percent(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x*100), ".0") }

// anyOf holds while any of the expressions does.
func anyOf(parts []string) string {
	if len(parts) == 1 && strings.HasPrefix(parts[0], "(") && !strings.Contains(parts[0], "\n)\n") {
		return parts[0]
	}
	return parenthesised(strings.Join(parts, "\nor\n"))
}

func parenthesised(s string) string { return "(\n" + indent(s) + "\n)" }

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
