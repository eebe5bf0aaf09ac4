package status

import (
	"cmp"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// figures sums up samples, but for the span.
func figures(samples []sample) Recent {
	r := Recent{Turns: len(samples), Reasons: []Reason{}}
	failed := map[probe.Outcome]int{}
	var prompt, cached int
	for _, s := range samples {
		if s.outcome.Failed() {
			r.Failed++
			failed[s.outcome]++
		}
		if s.prompt.OK && s.cached.OK {
			prompt += s.prompt.V
			cached += s.cached.V
		}
	}
	for outcome, n := range failed {
		r.Reasons = append(r.Reasons, Reason{outcome, n, ratio(n, r.Turns)})
	}
	slices.SortFunc(r.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Outcome, b.Outcome))
	})
	r.Errors = ratio(r.Failed, r.Turns)
	r.Cached = ratio(cached, prompt)
	r.First = kindFigures(samples, probe.First)
	r.Followup = kindFigures(samples, probe.Followup)
	return r
}

// kindFigures sums up the samples of one kind of turn.
func kindFigures(samples []sample, kind probe.TurnKind) Kind {
	var k Kind
	var ttft, all, tpot []time.Duration
	for _, s := range samples {
		if s.kind != kind {
			continue
		}
		k.Turns++
		switch {
		case s.ttft.OK:
			ttft = append(ttft, s.ttft.V)
			all = append(all, s.ttft.V)
		case s.outcome.Failed():
			all = append(all, endless)
		}
		if s.tpot.OK {
			tpot = append(tpot, s.tpot.V)
		}
	}
	k.TTFT, k.TTFTAll, k.TPOT = quantiles(ttft), quantiles(all), quantiles(tpot)
	return k
}

// judge returns how the samples of a job stand against the objectives that
// cover it.
func judge(key probe.Key, samples []sample, objectives []slo.Objective) []SLO {
	out := []SLO{}
	for _, o := range objectives {
		if !o.CoversJob(key.Target, key.Workload) {
			continue
		}
		s := SLO{Name: o.Name, SLI: o.SLI, Objective: Ratio(probe.Some(o.Objective))}
		if o.SLI != slo.Availability {
			s.Threshold = Duration(probe.Some(o.Threshold))
		}
		for _, sample := range samples {
			switch o.Judge(sample.result(key)) {
			case slo.Good:
				s.Good++
				s.Judged++
			case slo.Bad:
				s.Judged++
			}
		}
		s.Share = ratio(s.Good, s.Judged)
		out = append(out, s)
	}
	return out
}
