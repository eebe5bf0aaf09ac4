package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// fit is the plan of a group of jobs, for all objectives that share it.
type fit struct {
	pace
	plan slo.Plan
	// slos are the names of the objectives; none when these are all there are.
	slos []string
	// filled says that a fault which just crosses the threshold of a page brings
	// enough bad turns for the window that says whether it lasts.
	filled bool
}

// key is equal for fits whose alerts fire on the same numbers and say the same.
func (f fit) key() string {
	return fmt.Sprint(f.workloads, f.when, f.filled, f.notes(slo.Page), f.notes(slo.Ticket), planKey(f.plan))
}

// planKey is equal for plans that fire on the same numbers and say the same.
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

// ends is the window after which a fault that is over burns no more.
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

// keep is how long a page fires on.
func (f fit) keep() time.Duration {
	if f.filled {
		return keepFilled
	}
	return keepBurn
}

// notes are how the tiers of a severity differ from the usual ones.
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
