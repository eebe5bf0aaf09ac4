package review

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

const (
	oneDay  = 24 * time.Hour
	oneWeek = 7 * oneDay
	// enoughWeeks is the number of weeks from which weeks are judged instead of days.
	enoughWeeks = 4
	// missable is the share of the weeks (or days) that a proposed objective may miss.
	missable = 0.05
	// spent is the largest share of the error budget that a proposal may spend in the others.
	spent = 0.5
	// budgetWindow is the window of a proposed objective.
	budgetWindow = 30 * oneDay
)

// Proposal is an objective that a job has kept.
type Proposal struct {
	Job probe.Key
	SLI slo.SLI
	// Current is the objective of today, nil without one. Proposed is nil if the history shows none.
	Current, Proposed *Tried
}

// proposable are the SLIs of proposed objectives.
func proposable() []slo.SLI { return []slo.SLI{slo.TTFT, slo.TPOT, slo.Availability} }

// Tried is an objective, and what it would have done in the history.
type Tried struct {
	slo.Objective
	// MissedDays are the days that would have spent more than their share of the budget.
	MissedDays int
	// Pages counts the burn-rate pages, by whole hours, as if no miss were usual; unknown for a history of days.
	Pages probe.Opt[int]
}

// Span returns the time from a job's first turn to its last, in whole days, at least 1.
func (h *History) Span(job probe.Key) (days int) {
	all := h.Jobs[job]
	return max(1, int((all[len(all)-1].Start.Add(h.Step).Sub(all[0].Start)+oneDay/2)/oneDay))
}

// ByWeek reports whether proposals for a job are judged by weeks. Otherwise they are judged by days.
func (h *History) ByWeek(job probe.Key) bool { return h.Span(job) >= enoughWeeks*7 }

// Propose returns the objectives for the TTFT, the TPOT and availability of a job. current are the objectives
// that cover the job today; those for a part of the turns are left out.
func (h *History) Propose(job probe.Key, current []slo.Objective) (out []Proposal) {
	for _, sli := range proposable() {
		p := Proposal{Job: job, SLI: sli}
		for _, o := range current {
			if o.SLI == sli && len(o.Turns) == 0 && !o.Sized() {
				p.Current = h.try(job, o)
				break
			}
		}
		if o, ok := h.objective(job, sli); ok {
			p.Proposed = h.try(job, o)
		}
		out = append(out, p)
	}
	return out
}

// Objectives returns the proposed objectives. Targets with the same proposal share one; an objective that is
// proposed for all jobs names no targets.
func Objectives(all []Proposal) (out []slo.Objective) {
	workloads := map[string]bool{}
	for _, p := range all {
		workloads[p.Job.Workload] = true
	}
	for _, sli := range proposable() {
		left := slices.DeleteFunc(slices.Clone(all), func(p Proposal) bool { return p.SLI != sli })
		jobs, parts := len(left), 0
		left = slices.DeleteFunc(left, func(p Proposal) bool { return p.Proposed == nil })
		slices.SortStableFunc(left, func(a, b Proposal) int { return compareFigures(a.Proposed, b.Proposed) })
		for len(left) > 0 {
			o, alike := left[0].Proposed.Objective, 1
			for alike < len(left) && compareFigures(left[0].Proposed, left[alike].Proposed) == 0 {
				alike++
			}
			group := left[:alike]
			if left = left[alike:]; len(group) == jobs {
				o.Name = string(sli)
				out = append(out, o)
				continue
			}
			for _, workload := range slices.Sorted(maps.Keys(workloads)) {
				if o.Targets = targetsOf(group, workload); o.Targets == nil {
					continue
				}
				if len(workloads) > 1 {
					o.Workloads = []string{workload}
				}
				parts++
				o.Name = fmt.Sprintf("%s-%d", sli, parts)
				out = append(out, o)
			}
		}
	}
	return out
}

func compareFigures(a, b *Tried) int {
	return cmp.Or(cmp.Compare(a.Threshold, b.Threshold), cmp.Compare(b.Objective.Objective, a.Objective.Objective))
}

func targetsOf(all []Proposal, workload string) (targets []string) {
	for _, p := range all {
		if p.Job.Workload == workload {
			targets = append(targets, p.Job.Target)
		}
	}
	return targets
}

// objective returns an objective that the job kept in nearly all weeks or days with half of its budget.
func (h *History) objective(job probe.Key, sli slo.SLI) (slo.Objective, bool) {
	o := slo.Objective{SLI: sli, Window: budgetWindow}
	if sli == slo.Availability {
		for _, o.Objective = range []float64{0.999, 0.995, 0.99, 0.98, 0.95, 0.9} {
			if h.kept(job, o) {
				return o, true
			}
		}
		return o, false
	}
	best, ok := o, false
	for _, o.Objective = range []float64{0.9, 0.95, 0.99} {
		threshold, found := h.threshold(job, o)
		// A stricter share that needs a much longer threshold only describes the outliers.
		if !found || ok && threshold > 10*best.Threshold {
			break
		}
		best, ok = o, true
		best.Threshold = threshold
	}
	return best, ok
}

// threshold returns the shortest figure that an objective can have, up to the prober's usual timeouts.
func (h *History) threshold(job probe.Key, o slo.Objective) (time.Duration, bool) {
	longest := 30 * time.Second
	if o.SLI == slo.TPOT {
		longest = 10 * time.Second
	}
	for _, o.Threshold = range ladder {
		if o.Threshold > longest {
			break
		}
		if h.kept(job, o) {
			return o.Threshold, true
		}
	}
	return 0, false
}

// kept reports whether a job kept an objective with a margin, and has enough turns for its alerts.
func (h *History) kept(job probe.Key, o slo.Objective) bool {
	period := oneDay
	if h.ByWeek(job) {
		period = oneWeek
	}
	missed, all, turns := 0, 0, 0
	for _, s := range h.merged(job, period) {
		bad, judged := s.bad(o)
		turns += judged
		if all++; float64(bad) > spent*o.Budget()*float64(judged) {
			missed++
		}
	}
	perWindow := float64(turns) * budgetWindow.Hours() / oneDay.Hours() / float64(h.Span(job))
	return o.Budget()*perWindow >= slo.MinBadLong && float64(missed) <= missable*float64(all)
}

// merged returns the sums of a job's slots over periods. The first period begins with the day of the first
// slot; the last may be incomplete.
func (h *History) merged(job probe.Key, period time.Duration) (out []Slot) {
	first := h.Jobs[job][0].Start.Truncate(oneDay)
	for _, s := range h.Jobs[job] {
		start := first.Add(s.Start.Sub(first).Truncate(period))
		if len(out) == 0 || !out[len(out)-1].Start.Equal(start) {
			out = append(out, Slot{Start: start})
		}
		out[len(out)-1].add(s)
	}
	return out
}

func (s *Slot) add(o Slot) {
	s.Turns, s.Failed = s.Turns+o.Turns, s.Failed+o.Failed
	s.TTFT.addAll(o.TTFT)
	s.TPOT.addAll(o.TPOT)
}

// bad returns the numbers of bad turns and of judged turns. A threshold between two figures counts as the
// larger one.
func (s *Slot) bad(o slo.Objective) (bad, judged int) {
	switch o.SLI {
	case slo.TTFT:
		return s.TTFT.bad(figureOf(o.Threshold))
	case slo.TPOT:
		return s.TPOT.bad(figureOf(o.Threshold))
	}
	return s.Failed, s.Turns
}

// try counts what an objective would have done.
func (h *History) try(job probe.Key, o slo.Objective) *Tried {
	t := &Tried{Objective: o}
	for _, s := range h.merged(job, oneDay) {
		if bad, judged := s.bad(o); float64(bad) > o.Budget()*float64(judged) {
			t.MissedDays++
		}
	}
	if h.Step == time.Hour {
		t.Pages = probe.Some(h.pages(job, o))
	}
	return t
}

// pages counts the runs of hours in which a tier of the burn-rate page holds in its long window and in the hour.
func (h *History) pages(job probe.Key, o slo.Objective) (pages int) {
	all := h.Jobs[job]
	turns := 0
	for i := range all {
		_, judged := all[i].bad(o)
		turns += judged
	}
	plan := o.BurnPlan(float64(turns) / oneDay.Minutes() / float64(h.Span(job)))
	var paging time.Time // the last hour that paged
	for i := range all {
		for _, t := range plan.Tiers {
			if t.Severity == slo.Page && burns(all[:i+1], o, t, t.Long) && burns(all[:i+1], o, t, time.Hour) {
				if all[i].Start.Sub(paging) > time.Hour {
					pages++
				}
				paging = all[i].Start
				break
			}
		}
	}
	return pages
}

// burns reports whether a tier's burn rate is exceeded in the last part of some slots.
func burns(slots []Slot, o slo.Objective, t slo.Tier, window time.Duration) bool {
	end := slots[len(slots)-1].Start.Add(time.Hour)
	bad, judged := 0, 0
	for i := len(slots) - 1; i >= 0 && slots[i].Start.Sub(end.Add(-max(window, time.Hour))) >= 0; i-- {
		b, j := slots[i].bad(o)
		bad, judged = bad+b, judged+j
	}
	least := t.MinBadLong
	if window < t.Long {
		least = t.MinBadShort
	}
	return bad >= least && float64(bad) > t.Burn*o.Budget()*float64(judged)
}
