package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/slo"
)

// fit is the plan of a group of jobs.
type fit struct {
	group[string]
	plan slo.Plan
}

// planKey is equal for plans that fire on the same numbers and say the same.
func planKey(p slo.Plan) string {
	var b strings.Builder
	for _, t := range p.Tiers {
		fmt.Fprintf(&b, "%s %v %v %v|", t.Severity, t.Burn, t.Long, t.Short)
	}
	return b.String()
}

// who names the jobs of a fit, unless it holds for all.
func (f fit) who() string {
	if len(f.matchers) == 0 {
		return ""
	}
	return "For " + strings.Join(f.matchers, ", ") + ": "
}

// notes are how the tiers of a severity differ from the usual ones.
func (f fit) notes(s slo.Severity) []string {
	var notes []string
	for _, t := range f.plan.Tiers {
		if t.Severity != s {
			continue
		}
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
			whys = append(whys, d.Why)
		}
	}
	return whys
}
