package rules

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// objective is an SLO with everything that its rules need.
type objective struct {
	slo.Objective
	// fits are the burn rate plans by group of jobs, because jobs with different rates may need
	// different windows.
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
	f := objective{Objective: o}
	plan := func(j Job) slo.Plan { return o.BurnPlan(in.judgedPerMinute(j, o)) }
	for _, g := range paces(in.covered(o), func(j Job) string { return planKey(plan(j)) }) {
		p := plan(g.jobs[0])
		if !p.Pages() {
			return f, fmt.Errorf("slo %q, target %q, workload %q: no alert that pages is left: %s",
				o.Name, g.jobs[0].Target, g.jobs[0].Workload, strings.Join(dropped(p, slo.Page), "; "))
		}
		f.fits = append(f.fits, fit{pace: g, plan: p, slos: []string{o.Name}, filled: in.filled(o, g.jobs, p)})
	}
	return f, nil
}

// filled computes fit.filled.
func (in Input) filled(o slo.Objective, jobs []Job, p slo.Plan) bool {
	for _, t := range p.Tiers {
		for _, j := range jobs {
			if t.Severity == slo.Page && in.judgedPerMinute(j, o)*lasting.Minutes()*t.Burn*o.Budget() < float64(t.MinBadLong) {
				return false
			}
		}
	}
	return true
}

// judgedPerMinute returns the expected rate of turns of all replicas that an objective judges;
// 0 if unknown.
func (in Input) judgedPerMinute(j Job, o slo.Objective) float64 {
	return float64(max(1, in.Replicas)) * j.judgedPerMinute(o)
}

func (j Job) judgedPerMinute(o slo.Objective) float64 {
	switch {
	case len(o.Turns) != 1:
		return j.TurnsPerMinute
	case o.Turns[0] == probe.First:
		return j.ConversationsPerMinute
	case j.ConversationsPerMinute > 0:
		return max(j.TurnsPerMinute-j.ConversationsPerMinute, 0)
	}
	return 0
}

// kind returns the kind of turn of an objective, "" for both.
func (f objective) kind() string {
	if len(f.Turns) == 1 {
		return string(f.Turns[0])
	}
	return ""
}

// sli returns the value of the label sli.
func (f objective) sli() string {
	if f.SLI == slo.Availability {
		return SLIAvailability
	}
	return SLILatency
}

// statement describes the SLO in words.
func (f objective) statement() string {
	share := num(f.Objective.Objective*100) + " % of turns"
	if f.kind() != "" {
		share = num(f.Objective.Objective*100) + " % of " + f.kind() + " turns"
	}
	if f.SLI == slo.Availability {
		return fmt.Sprintf("%s succeed, over %s", share, slo.FormatDuration(f.Window))
	}
	return fmt.Sprintf("%s have %s <= %ss, over %s", share, f.SLI, num(f.Threshold.Seconds()), slo.FormatDuration(f.Window))
}

// labels returns the labels of its budget.
func (f objective) labels() map[string]string {
	l := map[string]string{metrics.LabelSLO: f.Name, labelSLI: f.sli()}
	if f.kind() != "" { // so that it is not mistaken for all turns
		l[metrics.LabelTurn] = f.kind()
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

// each returns a template that selects the text of the alert's objective.
func each(objectives []objective, say func(objective) string) string {
	text, begin := "", "{{ if "
	for _, o := range objectives {
		text += fmt.Sprintf("%seq $labels.slo %q }}%s", begin, o.Name, say(o))
		begin = "{{ else if "
	}
	return text + "{{ end }}"
}

// comments describes how windows differ from the default.
func comments(objectives []objective, s slo.Severity) []string {
	var lines []string
	for _, o := range objectives {
		for _, fit := range o.fits {
			for _, note := range fit.notes(s) {
				lines = append(lines, "SLO "+o.Name+": "+fit.who()+note)
			}
		}
	}
	return lines
}
