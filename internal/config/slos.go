package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

func defaultSLOs() []slo.Objective {
	const window = 30 * day
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: window},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: window},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: window},
	}
}

// readSLOs resolves the SLOs and checks them against the jobs.
func readSLOs(r *reader, in []fileSLO, jobs []fleet.Job) []slo.Objective {
	if !r.Has("slos") {
		out := defaultSLOs()
		for i := range jobs {
			jobs[i].Objectives = out
		}
		for i := 0; r.jobsResolved && i < len(out); i++ {
			checkReachable(r, "slos[0]", out[i], jobs, coveredJobs(jobs, nil, nil))
		}
		return out
	}
	used, pairs := map[string]string{}, 0
	out := make([]slo.Objective, len(in))
	for i, s := range in {
		path := yamlform.Index("slos", i)
		out[i] = slo.Objective{
			Name: cmp.Or(s.Name, string(s.SLI)), SLI: s.SLI, Threshold: s.Threshold.Base, PerThousand: s.Threshold.PerThousand, Objective: float64(s.Objective),
			Window: s.Window, Targets: s.Targets, Workloads: s.Workloads, Turns: s.Turns, Uncached: slo.Tokens(s.When.Uncached),
		}
		r.Name(path, out[i].Name, "SLO", used)
		checkThreshold(r, path, s)
		checkSelected(r, path+".targets", s.Targets, &r.targets)
		checkSelected(r, path+".workloads", s.Workloads, &r.workloads)
		if r.jobsResolved && !r.Wrong(path) && r.Valid(path+".sli", path+".targets", path+".workloads", path+".turns") {
			var covered []int
			for _, n := range coveredJobs(jobs, s.Targets, s.Workloads) {
				if pairs++; pairs <= maxCovered {
					jobs[n].Objectives = append(jobs[n].Objectives, out[i])
				}
				if hasTurns(out[i], jobs[n].Workload) && (s.SLI != slo.Correct || jobs[n].Workload.Recall > 0) {
					covered = append(covered, n)
				}
			}
			switch {
			case covered == nil && s.SLI == slo.Correct:
				r.Mistake(path, out[i].Name, "covers no traffic that asks for reference codes", "write for example recall: 99% in its workloads, or remove it")
			case covered == nil:
				r.Mistake(path, out[i].Name, "covers no traffic, so that it could never be violated", "widen its targets, workloads or turns, or remove it")
			}
			if pairs <= maxCovered {
				checkReachable(r, path, out[i], jobs, covered)
			}
		}
	}
	checkCovered(r, "slos", pairs)
	return out
}

// coveredJobs returns the positions of the jobs with these targets and workloads; nil means all.
func coveredJobs(jobs []fleet.Job, targets, workloads []string) (at []int) {
	toTarget, ofWorkload := setOf(targets), setOf(workloads)
	for i := range jobs {
		if (targets == nil || toTarget[jobs[i].Target.Name]) && (workloads == nil || ofWorkload[jobs[i].Workload.Name]) {
			at = append(at, i)
		}
	}
	return at
}

// checkThreshold checks that an SLO on a duration has a threshold, and that the others have none.
func checkThreshold(r *reader, path string, s fileSLO) {
	at := path + ".threshold"
	switch {
	case !r.Valid(path+".sli", at):
	case !s.SLI.HasThreshold() && r.Has(at):
		r.Mistake(at, "", "has no meaning for "+string(s.SLI)+", which is no duration", "remove it")
	case s.SLI.HasThreshold() && !r.Has(at):
		r.Mistake(at, "", "is missing", "write the highest good value, for example threshold: 1s")
	case (s.SLI == slo.TPOT || s.SLI == slo.ITL) && r.Has(at+".per_1k_uncached_tokens"):
		r.Mistake(at+".per_1k_uncached_tokens", "", "has no meaning for "+string(s.SLI)+", which is measured after the prompt was read", "write a plain threshold, for example threshold: 60ms")
	}
}

// hasTurns reports whether a job has turns of the kinds that an SLO covers.
func hasTurns(o slo.Objective, w workload.Spec) bool {
	kinds := probe.TurnKinds()
	switch {
	case o.SLI == slo.Correct: // follow-ups ask for codes
		kinds = []probe.TurnKind{probe.Followup}
	case w.TurnsMax == 1:
		kinds = []probe.TurnKind{probe.First}
	}
	return o.Turns == nil || slices.ContainsFunc(kinds, func(kind probe.TurnKind) bool { return slices.Contains(o.Turns, kind) })
}

// checkReachable rejects a threshold above the timeout of the turns that it judges, which are those of the jobs at
// covered. Those turns are given up
// before they are too slow, so that the SLO would only repeat availability.
func checkReachable(r *reader, path string, o slo.Objective, jobs []fleet.Job, covered []int) {
	at := path + ".threshold"
	for _, n := range covered {
		w := &jobs[n].Workload
		key, timeout := timeoutOf(o.SLI, w.Timeouts)
		if timeout == 0 || o.Threshold <= timeout || !r.Valid(at) {
			continue
		}
		threshold, limit := model.Duration(o.Threshold), model.Duration(timeout)
		where := fmt.Sprintf("timeouts.%s of workload %q, %v", key, w.Name, limit)
		if r.Has(path) {
			r.Mistake(at, threshold.String(), "is longer than "+where+": only failed turns could violate it", fmt.Sprintf("write %v or less, or a longer timeout", limit))
		} else {
			r.Mistake("slos", "", fmt.Sprintf("the default SLO %q has a threshold of %v, which is longer than %s", o.Name, threshold, where), "write slos, or a longer timeout")
		}
		return
	}
}

// timeoutOf returns the timeout that ends a turn before an SLI could exceed it.
func timeoutOf(sli slo.SLI, t workload.Timeouts) (key string, timeout time.Duration) {
	switch sli {
	case slo.TTFT:
		return "first_token", t.FirstToken
	case slo.TPOT, slo.ITL:
		return "stall", t.Stall
	case slo.AnswerTTFT, slo.TurnDuration:
		return "total", t.Total
	}
	return "", 0
}
