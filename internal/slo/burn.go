package slo

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Severity says what an alert asks of people.
type Severity string

const (
	// Page wakes somebody up.
	Page Severity = "page"
	// Ticket waits for office hours.
	Ticket Severity = "ticket"
)

// Tier is one pair of windows of a multiwindow, multi-burn-rate alert: it
// fires while the share of bad turns is above Burn × (1 − objective) in both
// windows, and both hold enough bad turns to mean it.
type Tier struct {
	Severity Severity
	// Share is the part of the error budget that is spent when Burn has lasted
	// for Long: Burn × Long / the objective's window.
	Share float64
	// Burn is how many times faster than allowed the budget is spent; at 1 it
	// lasts exactly the objective's window.
	Burn float64
	// Long decides whether the fault matters, Short whether it still lasts.
	Long, Short time.Duration
	// MinBadLong and MinBadShort are the fewest bad turns in each window that
	// fire, so that one bad turn never does.
	MinBadLong, MinBadShort int
	// Notes say in words how the tier differs from its usual windows, and why.
	Notes []string
}

// Plan is the tiers of one objective at one rate of turns.
type Plan struct {
	// Tiers that can fire, pages first, quickest first.
	Tiers []Tier
	// Dropped are the tiers that are left out.
	Dropped []Dropped
}

// Dropped is a tier that would be dead or without meaning.
type Dropped struct {
	Severity Severity
	// Why says which tier it was, why it is left out, and the remedy.
	Why string
}

// Pages reports whether a paging tier is left.
func (p Plan) Pages() bool {
	return slices.ContainsFunc(p.Tiers, func(t Tier) bool { return t.Severity == Page })
}

// LeastBadLong and leastBadShort are the fewest bad turns in a long and in a short
// window that fire. Two in the short one, because one is no evidence that a fault
// lasts. Five in the long one, because where turns are few a deployment that just
// meets its objective reaches two or three by chance several times a month
// (TestPagesByChance).
const (
	LeastBadLong  = 5
	leastBadShort = 2
)

// reachable is the largest share of bad turns that a tier may ask for. A
// threshold above 1 can never be crossed; one close to 1 would wait for a
// complete outage.
const reachable = 0.8

// amplyReachable is an objective for which every tier finds a window between
// reachable and a burn rate of 1, however the ladder of windows falls.
const amplyReachable = 0.6

// BaseTiers are the tiers for a window of 30 days, from the Site Reliability
// Workbook's chapter "Alerting on SLOs": 14.4×, 6× and 1×.
func BaseTiers() []Tier {
	const day = 24 * time.Hour
	return []Tier{
		{Severity: Page, Share: 0.02, Long: time.Hour, Short: 5 * time.Minute},
		{Severity: Page, Share: 0.05, Long: 6 * time.Hour, Short: 30 * time.Minute},
		{Severity: Ticket, Share: 0.10, Long: 3 * day, Short: 6 * time.Hour},
	}
}

// BurnPlan fits the tiers to the objective, its window and the expected number
// of judged turns per minute (0: unknown, then no window is stretched).
func (o Objective) BurnPlan(turnsPerMinute float64) Plan {
	var p Plan
	for _, base := range BaseTiers() {
		t, why := o.fit(base, turnsPerMinute)
		if why == "" && p.has(t) {
			why = "it fires on the same numbers as another tier"
		}
		if why != "" {
			p.Dropped = append(p.Dropped, Dropped{base.Severity, fmt.Sprintf("the tier over %s: %s", Short(base.Long), why)})
			continue
		}
		p.Tiers = append(p.Tiers, t)
	}
	return p
}

func (p Plan) has(t Tier) bool {
	return slices.ContainsFunc(p.Tiers, func(u Tier) bool {
		return u.Severity == t.Severity && u.Burn == t.Burn && u.Long == t.Long && u.Short == t.Short
	})
}

// fit returns the tier as it suits the objective, or why it cannot.
func (o Objective) fit(t Tier, turnsPerMinute float64) (_ Tier, why string) {
	t.MinBadLong, t.MinBadShort = LeastBadLong, leastBadShort
	if atLeast := time.Duration(float64(t.Long) / t.Share); t.Severity == Page && o.Window < atLeast {
		return t, fmt.Sprintf("%s %% of a budget of %s within %s is no faster than allowed; use a window of at least %s",
			number(t.Share*100), Short(o.Window), Short(t.Long), Short(atLeast))
	}
	t, ok := o.withinReach(t)
	if !ok || t.Severity == Page && t.Burn < 1 {
		return t, fmt.Sprintf("an objective of %s allows so many bad turns that faster than allowed means nearly all of them; use an objective of at least %g",
			number(o.Objective), amplyReachable)
	}
	t = t.atLeastOne()
	if o.share(t) >= 1 {
		return t, fmt.Sprintf("it would fire only after the whole budget of %s is spent; use a longer window", Short(o.Window))
	}
	t, ok = o.filled(t, turnsPerMinute)
	if t.Share = o.share(t); ok && t.Share < 1 {
		return t, ""
	}
	return t, fmt.Sprintf("at %s turns per minute the whole budget of %s is %s bad turns, and no fewer than %d are evidence; raise the rate or lower the objective",
		number(turnsPerMinute), Short(o.Window), number(o.Budget()*turnsPerMinute*o.Window.Minutes()), t.MinBadLong)
}

// share is the part of the budget that is spent when a tier's burn rate has
// lasted for its long window.
func (o Objective) share(t Tier) float64 {
	return round(t.Burn * float64(t.Long) / float64(o.Window))
}

// atLeastOne lifts a ticket's burn rate to 1: below it, the budget outlasts
// its window and nothing is wrong.
func (t Tier) atLeastOne() Tier {
	if t.Burn < 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("the burn rate is 1 instead of %s, below which the budget outlasts its window", number(t.Burn)))
		t.Burn = 1
	}
	return t
}

// withinReach lengthens the long window, at the same share of the budget,
// until its threshold can be crossed: at a low objective 14.4 × the budget is
// more than every turn.
func (o Objective) withinReach(t Tier) (Tier, bool) {
	base := t.Long
	for {
		t.Burn = round(t.Share * float64(o.Window) / float64(t.Long))
		if t.Burn*o.Budget() <= reachable {
			break
		}
		next := WindowAtLeast(t.Long + 1)
		if next <= t.Long {
			return t, false
		}
		t.Long = next
	}
	if t.Long != base {
		t.Notes = append(t.Notes, fmt.Sprintf("the long window is %s instead of %s, in which the same share of the budget would be more than %g %% of all turns",
			Short(t.Long), Short(base), reachable*100))
	}
	return t, true
}

// filled lengthens both windows, at the same burn rate, until a fault that
// just crosses the threshold puts the least number of bad turns in each.
func (o Objective) filled(t Tier, turnsPerMinute float64) (Tier, bool) {
	if turnsPerMinute <= 0 {
		return t, true
	}
	badPerMinute := t.Burn * o.Budget() * turnsPerMinute
	long, okLong := holding(t.Long, float64(t.MinBadLong)/badPerMinute)
	short, okShort := holding(t.Short, float64(t.MinBadShort)/badPerMinute)
	if !okLong || !okShort {
		return t, false
	}
	if long != t.Long || short != t.Short {
		t.Notes = append(t.Notes, fmt.Sprintf("the windows are %s and %s instead of %s and %s, which hold too few turns at the configured rate",
			Short(long), Short(short), Short(t.Long), Short(t.Short)))
	}
	t.Long, t.Short = long, short
	return t, true
}

func holding(base time.Duration, minutes float64) (w time.Duration, ok bool) {
	need := max(base, time.Duration(min(minutes*float64(time.Minute), math.MaxInt64/2)))
	w = WindowAtLeast(need)
	return w, w >= need
}

// Budget is the share of turns that may be bad, 1 − Objective, without the
// noise of binary fractions.
func (o Objective) Budget() float64 { return round(1 - o.Objective) }

// round drops float noise: 1 − 0.99 is 0.01.
func round(x float64) float64 {
	const digits = 1e12
	return math.Round(x*digits) / digits
}
