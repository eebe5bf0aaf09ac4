package status

import (
	"cmp"
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// figures summarises samples, without their span.
func figures(samples []sample) Recent {
	r := Recent{Turns: len(samples), Reasons: []Reason{}}
	failed := map[probe.Outcome]int{}
	var prompt, cached int
	for _, s := range samples {
		if s.outcome.Failed() {
			r.Failed++
			failed[s.outcome]++
		}
		if of, hit := s.prompt.opt(), s.cached.opt(); of.OK && hit.OK {
			prompt += int(of.V)
			cached += int(hit.V)
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

func kindFigures(samples []sample, kind probe.TurnKind) Kind {
	var k Kind
	var ttft, all, tpot []time.Duration
	for _, s := range samples {
		if s.turn() != kind {
			continue
		}
		k.Turns++
		switch first := s.ttft.opt(); {
		case first.OK:
			ttft = append(ttft, first.V)
			all = append(all, first.V)
		case s.outcome.Failed():
			all = append(all, endless)
		}
		if pace := s.tpot.opt(); pace.OK {
			tpot = append(tpot, pace.V)
		}
	}
	k.TTFT, k.TTFTAll, k.TPOT = quantiles(ttft), quantiles(all), quantiles(tpot)
	return k
}

// judge returns the result of a job's samples for each objective that covers it.
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

// Quantiles are nearest-rank quantiles of Count values, undefined without values.
type Quantiles struct {
	Count int      `json:"count"`
	P50   Duration `json:"p50_seconds"`
	P95   Duration `json:"p95_seconds"`
	P99   Duration `json:"p99_seconds"`
}

// quantiles sorts the values in place.
func quantiles(values []time.Duration) Quantiles {
	slices.Sort(values)
	return Quantiles{
		Count: len(values),
		P50:   nearestRank(values, 0.50),
		P95:   nearestRank(values, 0.95),
		P99:   nearestRank(values, 0.99),
	}
}

// nearestRank returns the smallest of the sorted values that at least a share q does not
// exceed.
func nearestRank(sorted []time.Duration, q float64) Duration {
	if len(sorted) == 0 {
		return Duration{}
	}
	// Without the small step back, 0.95 × 20 = 19.000000000000004 is rank 20.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return Duration(probe.Some(sorted[max(rank, 1)-1]))
}

// Expected holds the figures of a job's benchmark, shown beside those of recent turns.
type Expected struct {
	// Source describes the benchmark.
	Source string `json:"source"`
	// Pooled is true if the benchmark does not separate first from follow-up turns.
	Pooled   bool         `json:"pooled"`
	First    ExpectedKind `json:"first"`
	Followup ExpectedKind `json:"followup"`
}

// ExpectedKind holds the figures of one kind of turn; Count is 0 if the benchmark has none.
type ExpectedKind struct {
	TTFT Quantiles `json:"ttft"`
	TPOT Quantiles `json:"tpot"`
}

// expectedOf returns the figures of a benchmark; nil without one.
func expectedOf(b *sink.Benchmark) *Expected {
	if b == nil {
		return nil
	}
	e := &Expected{Source: b.Source(), Pooled: b.Pooled}
	for k, kind := range []*ExpectedKind{&e.First, &e.Followup} { // as probe.TurnKinds
		of := b.Figures[k]
		kind.TTFT, kind.TPOT = quantilesOf(of[0]), quantilesOf(of[1]) // as sink.Signals
	}
	return e
}

func quantilesOf(b sink.SignalFigures) Quantiles {
	known := func(d time.Duration) Duration { return Duration(probe.Opt[time.Duration]{V: d, OK: d > 0}) }
	return Quantiles{Count: b.Samples, P50: known(b.Quantiles[0]), P95: known(b.Quantiles[1]), P99: known(b.Quantiles[2])}
}
