package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// fit is the burn rate plan of a group of jobs, for all objectives that share it.
type fit struct {
	pace
	plan slo.Plan
	// names of the objectives; none if these are all
	slos []string
	// filled is true if a fault just above a page's threshold has enough bad turns for the
	// window lasting.
	filled bool
}

// key is equal for fits with the same alerts.
func (f fit) key() string {
	return fmt.Sprint(f.workloads, f.when, f.filled, f.notes(slo.Page), f.notes(slo.Ticket), planKey(f.plan))
}

// planKey is equal for plans with the same alerts.
func planKey(p slo.Plan) string {
	var b strings.Builder
	for _, t := range p.Tiers {
		fmt.Fprintf(&b, "%s %v %v %v %v|", t.Severity, t.Burn, t.Share, t.Long, t.Short)
	}
	return b.String()
}

// self matches the series of the fit.
func (f fit) self() matchers {
	var m matchers
	if f.workloads != nil {
		m = m.with(oneOf(metrics.LabelWorkload, f.workloads))
	}
	if f.slos != nil {
		m = m.with(oneOf(metrics.LabelSLO, f.slos))
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
			w = max(w, lasting)
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
	for _, why := range dropped(f.plan, s) {
		notes = append(notes, "Left out is "+why+".")
	}
	return notes
}

func dropped(p slo.Plan, s slo.Severity) []string {
	var whys []string
	for _, d := range p.Dropped {
		if d.Severity == s {
			whys = append(whys, d.Reason)
		}
	}
	return whys
}
