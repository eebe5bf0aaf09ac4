package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// objective is an SLO with its burn rate plans. Jobs with different rates may need different plans.
type objective struct {
	slo.Objective
	fits []fit
}

// objectives plans every SLO for each of its jobs.
func (in Input) objectives() ([]objective, error) {
	var out []objective
	for _, o := range in.SLOs {
		f, err := in.objective(o)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func (in Input) objective(o slo.Objective) (objective, error) {
	out := objective{Objective: o}
	plan := func(j Job) slo.Plan { return o.BurnPlan(j.judgedPerMinute(o)) }
	for _, g := range paces(in.covered(o), func(j Job) string { return planKey(plan(j)) }) {
		p := plan(g.jobs[0])
		if !p.Pages() {
			return out, fmt.Errorf("slo %q, target %q, workload %q: no page is possible: %s",
				o.Name, g.jobs[0].Target, g.jobs[0].Workload, strings.Join(dropped(p, slo.Page), "; "))
		}
		out.fits = append(out.fits, fit{pace: g, plan: p, slos: []string{o.Name}, filled: in.filled(o, g.jobs, p)})
	}
	return out, nil
}

func (in Input) filled(o slo.Objective, jobs []Job, p slo.Plan) bool {
	for _, t := range p.Tiers {
		for _, j := range jobs {
			if t.Severity == slo.Page && j.judgedPerMinute(o)*recentWindow.Minutes()*t.Burn*o.Budget() < float64(t.MinBadLong) {
				return false
			}
		}
	}
	return true
}

// judgedPerMinute returns the expected rate of turns that an objective judges; 0 if unknown.
func (j Job) judgedPerMinute(o slo.Objective) float64 {
	switch {
	case o.SLI == slo.Correct: // follow-ups ask for codes
		return j.TurnsPerMinute - j.ConversationsPerMinute
	case o.Uncached != slo.Tokens{}:
		return 0 // the sizes of the turns are unknown
	case o.Kind() == "":
		return j.TurnsPerMinute
	case o.Kind() == probe.First:
		return j.ConversationsPerMinute
	case j.ConversationsPerMinute > 0:
		return max(j.TurnsPerMinute-j.ConversationsPerMinute, 0)
	}
	return 0
}

func (o objective) sli() string {
	if !o.SLI.HasThreshold() {
		return string(o.SLI)
	}
	return SLILatency
}

// Miss says what happens to users in the turns that miss an objective.
func Miss(o slo.Objective) string {
	text := known().Misses[string(o.SLI)]
	if o.SLI.HasThreshold() {
		limit := num(o.Threshold.Seconds()) + " s"
		if o.Threshold < time.Second {
			limit = num(1e3*o.Threshold.Seconds()) + " ms"
		}
		text += " " + limit + o.SlopeText()
	}
	return strings.TrimSpace(string(o.Kind())+" turns") + o.ClassText() + " " + text
}

func (o objective) statement() string {
	return fmt.Sprintf("at most %s %% of %s, over %s", num(100*o.Budget()), Miss(o.Objective), slo.FormatDuration(o.Window))
}

func (o objective) labels() map[string]string {
	l := map[string]string{metrics.LabelSLO: o.Name, labelSLI: o.sli()}
	if o.Kind() != "" {
		l[metrics.LabelTurn] = string(o.Kind())
	}
	return l
}

// fits returns the fits of all objectives with tiers of a severity. Objectives with equal
// numbers share one.
func fits(objectives []objective, s slo.Severity) []fit {
	var out []fit
	for _, o := range objectives {
		for _, f := range o.fits {
			i := slices.IndexFunc(out, func(g fit) bool { return g.key() == f.key() })
			switch {
			case i >= 0:
				out[i].slos = append(slices.Clone(out[i].slos), f.slos...)
			case len(f.tiers(s)) > 0:
				out = append(out, f)
			}
		}
	}
	if len(out) == 1 && len(out[0].slos) == len(objectives) {
		out[0].slos = nil
	}
	return out
}

// forObjective returns a template that shows the text of the alert's objective.
func forObjective(objectives []objective, text func(objective) string) string {
	template, branch := "", "{{ if "
	for _, o := range objectives {
		template += fmt.Sprintf("%seq $labels.slo %q }}%s", branch, o.Name, text(o))
		branch = "{{ else if "
	}
	return template + "{{ end }}"
}

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
	return fmt.Sprint(f.workloads, f.when, f.filled, planKey(f.plan))
}

// planKey is equal for plans with the same alerts.
func planKey(p slo.Plan) string {
	key := ""
	for _, t := range p.Tiers {
		key += fmt.Sprintf("%s %v %v %v %v|", t.Severity, t.Burn, t.Share, t.Long, t.Short)
	}
	return key
}

func (f fit) matchers() matchers {
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

// lastWindow returns the window after which a finished fault no longer burns.
func (f fit) lastWindow(s slo.Severity) time.Duration {
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

func (f fit) keepFiring() time.Duration {
	if f.filled {
		return keepFilled
	}
	return keepBurn
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
