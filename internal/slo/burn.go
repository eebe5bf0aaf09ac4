package slo

import (
	"fmt"
	"math"
	"slices"
	"time"
)

type Severity string

const (
	// Page wakes a person.
	Page Severity = "page"
	// Ticket can wait for office hours.
	Ticket Severity = "ticket"
)

// Tier is one pair of windows of a multiwindow, multi-burn-rate alert. It fires while the share of bad turns is above
// Burn × (1 − objective) in both windows, and both contain the minimum number of bad turns.
type Tier struct {
	Severity Severity
	// Share is the share of the error budget that is spent after a burn rate of Burn over Long:
	// Burn × Long / the objective's window.
	Share float64
	// Burn is the burn rate. At 1 the error budget lasts exactly the objective's window.
	Burn float64
	// The long window shows that the fault is serious, the short one that it still lasts.
	Long, Short time.Duration
	// MinBadLong and MinBadShort are the minimum numbers of bad turns in each window. They
	// prevent an alert for a single bad turn.
	MinBadLong, MinBadShort int
}

// Plan holds the tiers of one objective at one rate of turns.
type Plan struct {
	// Tiers are the tiers that can fire, pages first, shortest windows first.
	Tiers []Tier
	// Dropped are the base tiers that cannot work for the objective.
	Dropped []Dropped
}

// Dropped is a tier that could never fire or would mean nothing.
type Dropped struct {
	Severity Severity
	// Reason names the tier and says why it is dropped and how to get it back.
	Reason string
}

// Pages reports whether the plan has a paging tier.
func (p Plan) Pages() bool {
	return slices.ContainsFunc(p.Tiers, func(t Tier) bool { return t.Severity == Page })
}

// A tier needs MinBadLong bad turns in its long window and minBadShort in its short one. The short window needs 2,
// because one bad turn does not show that a fault lasts. The long window needs 5: with few turns, a deployment that
// just meets its objective has two or three bad ones by chance several times a month (TestPagesByChance).
const (
	MinBadLong  = 5
	minBadShort = 2
)

// maxBadShare is the highest share of bad turns that a tier may require. A threshold above 1 is
// unreachable, and one near 1 would fire only in a complete outage.
const maxBadShare = 0.8

// advisedObjective is the lowest objective for which every tier has a window with a burn rate
// of at least 1 and a threshold of at most maxBadShare.
const advisedObjective = 0.6

// baseTiers returns the tiers for a window of 30 days, with burn rates of 14.4, 6 and 1, from
// "Alerting on SLOs" in the Site Reliability Workbook.
func baseTiers() []Tier {
	const day = 24 * time.Hour
	return []Tier{
		{Severity: Page, Share: 0.02, Long: time.Hour, Short: 5 * time.Minute},
		{Severity: Page, Share: 0.05, Long: 6 * time.Hour, Short: 30 * time.Minute},
		{Severity: Ticket, Share: 0.10, Long: 3 * day, Short: 6 * time.Hour},
	}
}

// BurnPlan adapts the base tiers to the objective, its window and the expected rate of judged
// turns. A rate of 0 is unknown; windows are then not stretched.
func (o Objective) BurnPlan(turnsPerMinute float64) Plan {
	var p Plan
	for _, base := range baseTiers() {
		t, reason := o.fitTier(base, turnsPerMinute)
		if reason == "" && p.hasEqualTier(t) {
			reason = "it fires on the same numbers as another tier"
		}
		if reason != "" {
			p.Dropped = append(p.Dropped, Dropped{base.Severity, fmt.Sprintf("the tier over %s: %s", FormatDuration(base.Long), reason)})
			continue
		}
		p.Tiers = append(p.Tiers, t)
	}
	return p
}

func (p Plan) hasEqualTier(t Tier) bool {
	return slices.ContainsFunc(p.Tiers, func(u Tier) bool {
		return u.Severity == t.Severity && u.Burn == t.Burn && u.Long == t.Long && u.Short == t.Short
	})
}

// fitTier returns the tier adapted to the objective, or the reason why it cannot work.
func (o Objective) fitTier(t Tier, turnsPerMinute float64) (_ Tier, reason string) {
	t.MinBadLong, t.MinBadShort = MinBadLong, minBadShort
	if atLeast := time.Duration(float64(t.Long) / t.Share); t.Severity == Page && o.Window < atLeast {
		return t, fmt.Sprintf("spending %s %% of a budget of %s in %s is no faster than allowed; use a window of at least %s",
			formatNumber(t.Share*100), FormatDuration(o.Window), FormatDuration(t.Long), FormatDuration(atLeast))
	}
	t, ok := o.reachableTier(t)
	if !ok || t.Severity == Page && t.Burn < 1 {
		return t, fmt.Sprintf("an objective of %s allows so many bad turns that the alert would need nearly all turns to be bad; use an objective of at least %g",
			formatNumber(o.Objective), advisedObjective)
	}
	t.Burn = max(t.Burn, 1) // below 1 the budget outlasts its window, so nothing is wrong
	if o.budgetShare(t) >= 1 {
		return t, fmt.Sprintf("it would fire only after the whole budget of %s is spent; use a longer window", FormatDuration(o.Window))
	}
	t, ok = o.tierWithEnoughTurns(t, turnsPerMinute)
	if t.Share = o.budgetShare(t); ok && t.Share < 1 {
		return t, ""
	}
	return t, fmt.Sprintf("at %s turns per minute the budget of %s is only %s bad turns, and an alert needs %d; raise the rate or lower the objective",
		formatNumber(turnsPerMinute), FormatDuration(o.Window), formatNumber(o.Budget()*turnsPerMinute*o.Window.Minutes()), t.MinBadLong)
}

// budgetShare returns the share of the error budget that the tier's burn rate spends in its long window.
func (o Objective) budgetShare(t Tier) float64 {
	return roundOff(t.Burn * float64(t.Long) / float64(o.Window))
}

// reachableTier lengthens the long window, at the same share of the budget, until the threshold
// is at most maxBadShare. With a low objective, 14.4 × the budget can be more than all turns.
func (o Objective) reachableTier(t Tier) (Tier, bool) {
	for {
		t.Burn = roundOff(t.Share * float64(o.Window) / float64(t.Long))
		if t.Burn*o.Budget() <= maxBadShare {
			return t, true
		}
		next := WindowAtLeast(t.Long + 1)
		if next <= t.Long {
			return t, false
		}
		t.Long = next
	}
}

// tierWithEnoughTurns lengthens both windows, at the same burn rate, until a fault just above
// the threshold causes the minimum number of bad turns in each.
func (o Objective) tierWithEnoughTurns(t Tier, turnsPerMinute float64) (Tier, bool) {
	if turnsPerMinute <= 0 {
		return t, true
	}
	badPerMinute := t.Burn * o.Budget() * turnsPerMinute
	long, okLong := windowHolding(t.Long, float64(t.MinBadLong)/badPerMinute)
	short, okShort := windowHolding(t.Short, float64(t.MinBadShort)/badPerMinute)
	if !okLong || !okShort {
		return t, false
	}
	t.Long, t.Short = long, short
	return t, true
}

func windowHolding(base time.Duration, minutes float64) (w time.Duration, ok bool) {
	need := max(base, time.Duration(min(minutes*float64(time.Minute), math.MaxInt64/2)))
	w = WindowAtLeast(need)
	return w, w >= need
}

// Budget returns the share of turns that may be bad: 1 − Objective, without float noise.
func (o Objective) Budget() float64 { return roundOff(1 - o.Objective) }

// roundOff removes float noise, so that 1 − 0.99 is 0.01.
func roundOff(x float64) float64 {
	const digits = 1e12
	return math.Round(x*digits) / digits
}
