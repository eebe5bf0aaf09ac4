package rules

import (
	"fmt"
	"slices"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// fit is the burn rate plan of a group of jobs, for all objectives that share it.
type fit struct {
	pace
	plan slo.Plan
	slos []string // names of the objectives; nil means all
	// filled is true if a fault just above a page's threshold has enough bad turns within
	// recentWindow.
	filled bool
}

// key is equal for fits with the same alerts.
func (f fit) key() string {
	return fmt.Sprint(f.workloads, f.when, f.filled, f.notes(slo.Page), f.notes(slo.Ticket), planKey(f.plan))
}

// planKey is equal for plans with the same alerts.
func planKey(p slo.Plan) string {
	key := ""
	for _, t := range p.Tiers {
		key += fmt.Sprintf("%s %v %v %v %v|", t.Severity, t.Burn, t.Share, t.Long, t.Short)
	}
	return key
}

// self matches the series of the fit.
func (f fit) self() matchers {
	var m matchers
	if f.workloads != nil {
		m = append(m, oneOf(metrics.LabelWorkload, f.workloads))
	}
	if f.slos != nil {
		m = append(m, oneOf(metrics.LabelSLO, f.slos))
	}
	return m
}

func (f fit) tiers(s slo.Severity) []slo.Tier {
	return slices.DeleteFunc(slices.Clone(f.plan.Tiers), func(t slo.Tier) bool { return t.Severity != s })
}

// ends returns the window after which a finished fault no longer burns.
func (f fit) ends(s slo.Severity) time.Duration {
	var w time.Duration
	for _, t := range f.tiers(s) {
		if s == slo.Page && f.filled {
			w = max(w, recentWindow)
		} else {
			w = max(w, t.Short)
		}
	}
	return w
}

// keep returns how long a page keeps firing.
func (f fit) keep() time.Duration {
	if f.filled {
		return keepFilled
	}
	return keepBurn
}

// notes describes how the tiers of a severity differ from the default.
func (f fit) notes(s slo.Severity) []string {
	var notes []string
	for _, t := range f.tiers(s) {
		for _, n := range t.Notes {
			notes = append(notes, fmt.Sprintf("At %s×, %s.", num(t.Burn), n))
		}
	}
	for _, reason := range dropped(f.plan, s) {
		notes = append(notes, "Left out is "+reason+".")
	}
	return notes
}

// dropped returns why tiers of a severity were left out.
func dropped(p slo.Plan, s slo.Severity) []string {
	var reasons []string
	for _, d := range p.Dropped {
		if d.Severity == s {
			reasons = append(reasons, d.Reason)
		}
	}
	return reasons
}
