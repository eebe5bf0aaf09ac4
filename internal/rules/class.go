package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Jobs with different rates need different windows. Rules do not list jobs. They have a part for each
// window, and an exported value of the job selects the part. So the number of rules does not grow with
// the number of jobs.

// class is the part of a rule for jobs that share a window.
type class struct {
	Window time.Duration
	// Cond selects the jobs by the value of recordConfigured; "" selects all.
	Cond string
}

// When returns the end of an expression with Cond.
func (c class) When() string {
	if c.Cond == "" {
		return ""
	}
	return " " + andConfigured + c.Cond
}

// Young returns the age up to which a job may be without its first turn: two minutes, and more for rare turns.
func (c class) Young() string { return slo.FormatDuration(c.Window - 13*time.Minute) }

// classes returns the windows for the silences of the jobs: at least base, and at least a number of silences. A turn
// of a healthy job ends within a silence, and half a silence contains enough turns to judge a share of them.
func (in Input) classes(base time.Duration, silences float64) []class {
	window := func(silence time.Duration) time.Duration {
		return slo.WindowAtLeast(max(base, time.Duration(silences*float64(silence))))
	}
	var all []time.Duration
	for _, j := range in.Jobs {
		all = append(all, metrics.SilenceOf(j.ConversationsPerMinute, j.TurnTimeout))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var out []class
	above := ""
	for i, s := range all {
		if i == len(all)-1 {
			out = append(out, class{window(s), above})
		} else if window(s) != window(all[i+1]) {
			out = append(out, class{window(s), fmt.Sprintf("%s <= %g", above, s.Seconds())})
			above = fmt.Sprintf(" > %g", s.Seconds())
		}
	}
	return out
}

// pace is a set of jobs whose rates need the same windows of an objective. It depends on the
// rate, not on the silence as a class does: silences are at least five minutes, and jobs with
// the same silence may need different windows for a strict objective.
type pace struct {
	key       string
	jobs      []Job
	workloads []string // of the jobs; nil means all
	// when ends an expression on these workloads and selects the rates of the jobs; "" selects
	// all.
	when string
}

// paces groups jobs by key. Within a workload, whose conversations are alike, the groups are
// ranges of rates.
func paces(jobs []Job, key func(Job) string) []pace {
	var out []pace
	workloads := map[string]bool{}
	for _, j := range jobs {
		if workloads[j.Workload] {
			continue
		}
		workloads[j.Workload] = true
		for _, p := range rateRanges(jobs, j.Workload, key) {
			i := slices.IndexFunc(out, func(q pace) bool { return q.key == p.key && q.when == p.when })
			if i < 0 {
				out = append(out, p)
				continue
			}
			out[i].jobs = append(out[i].jobs, p.jobs...)
			out[i].workloads = append(out[i].workloads, p.workloads...)
		}
	}
	if len(out) == 1 {
		out[0].workloads = nil
	}
	return out
}

// rateRanges returns the paces of one workload, fastest first. An unknown rate counts as the fastest,
// because it must not lengthen a window.
func rateRanges(all []Job, workload string, key func(Job) string) []pace {
	jobs := slices.DeleteFunc(slices.Clone(all), func(j Job) bool { return j.Workload != workload })
	rate := func(j Job) float64 {
		if j.ConversationsPerMinute == 0 {
			return math.Inf(1)
		}
		return j.ConversationsPerMinute
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(rate(b), rate(a)) })
	var out []pace
	for i, j := range jobs {
		if n := len(out) - 1; n >= 0 && (out[n].key == key(j) || rate(j) == rate(jobs[i-1])) {
			out[n].jobs = append(out[n].jobs, j)
			continue
		}
		out = append(out, pace{key: key(j), jobs: []Job{j}, workloads: []string{workload}})
	}
	below := ""
	for i := range out[:len(out)-1] {
		slowest, next := out[i].jobs[len(out[i].jobs)-1].ConversationsPerMinute, out[i+1].jobs[0].ConversationsPerMinute
		limit := num(math.Sqrt(cmp.Or(slowest, 2*next)*next) / 60)
		out[i].when, below = whenRate(below, limit), limit
	}
	out[len(out)-1].when = whenRate(below, "")
	return out
}

// whenRate ends an expression on jobs with a rate below one limit and not below another; ""
// means no limit. A value from up to an hour ago counts, so that a page continues while the
// prober restarts.
func whenRate(below, notBelow string) string {
	rate := " on (" + onJob + ") " + aggregate("max", perJob(), "last_over_time("+metrics.TrafficRate+"[1h])")
	switch {
	case below == "" && notBelow == "":
		return ""
	case below == "":
		return "\nunless" + rate + " < " + notBelow
	case notBelow == "":
		return "\nand" + rate + " < " + below
	}
	return "\nand" + rate + " < " + below + " >= " + notBelow
}
