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
func figures(samples []sample) recentFigures {
	r := recentFigures{Turns: len(samples), Reasons: []failureReason{}}
	failed := map[probe.Outcome]int{}
	var prompt, cached int
	for _, s := range samples {
		ofPrompt, ofCache := s.prompt.count(), s.cached.count()
		r.Sessions.Count(s.moved.opt(), ofPrompt, ofCache)
		if outcome := s.outcome(); outcome.Failed() {
			r.Failed++
			failed[outcome]++
		}
		if ofPrompt.OK && ofCache.OK {
			prompt += ofPrompt.V
			cached += ofCache.V
		}
	}
	for outcome, n := range failed {
		r.Reasons = append(r.Reasons, failureReason{outcome, n, shareOf(n, r.Turns)})
	}
	slices.SortFunc(r.Reasons, func(a, b failureReason) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Outcome, b.Outcome))
	})
	r.Errors = shareOf(r.Failed, r.Turns)
	r.Cached = shareOf(cached, prompt)
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
		values := s.latencies()
		switch first := values[0]; {
		case first.OK:
			ttft = append(ttft, first.V)
			all = append(all, first.V)
		case s.outcome().Failed():
			all = append(all, infinite)
		}
		if values[1].OK {
			tpot = append(tpot, values[1].V)
		}
	}
	k.TTFT, k.TTFTAll, k.TPOT = quantilesOf(ttft), quantilesOf(all), quantilesOf(tpot)
	return k
}

// judge returns the result of a job's samples and sessions for each objective that covers it.
func judge(key probe.Key, samples []sample, sessions []probe.Conversation, objectives []slo.Objective) []SLO {
	out := []SLO{}
	for _, o := range objectives {
		if !o.CoversJob(key.Target, key.Workload) {
			continue
		}
		s := SLO{Name: o.Name, SLI: o.SLI, Objective: share(probe.Some(o.Objective)), Uncached: o.Uncached.String()}
		if o.SLI.HasThreshold() {
			s.Threshold = Duration(probe.Some(o.Threshold))
			s.PerThousand = Duration{V: o.PerThousand, OK: o.PerThousand > 0}
		}
		for _, sample := range samples {
			r := sample.result(key)
			v := o.Judge(&r)
			if v == slo.NotJudged {
				continue
			}
			s.Judged++
			if v == slo.Good {
				s.Good++
			}
			if o.CacheUnknown(&r) {
				s.CacheUnknown++
			}
		}
		for i := range sessions {
			switch o.JudgeSession(&sessions[i]) {
			case slo.Good:
				s.Judged, s.Good = s.Judged+1, s.Good+1
			case slo.Bad:
				s.Judged++
			}
		}
		s.Share = shareOf(s.Good, s.Judged)
		out = append(out, s)
	}
	return out
}

// quantiles are nearest-rank quantiles of Count values, undefined without values.
type quantiles struct {
	Count int      `json:"count"`
	P50   Duration `json:"p50_seconds"`
	P95   Duration `json:"p95_seconds"`
	P99   Duration `json:"p99_seconds"`
}

// quantilesOf sorts the values in place.
func quantilesOf(values []time.Duration) quantiles {
	slices.Sort(values)
	return quantiles{
		Count: len(values),
		P50:   nearestRank(values, 0.50),
		P95:   nearestRank(values, 0.95),
		P99:   nearestRank(values, 0.99),
	}
}

// nearestRank returns the smallest of the sorted values that a share of at least q of them does
// not exceed.
func nearestRank(sorted []time.Duration, q float64) Duration {
	if len(sorted) == 0 {
		return Duration{}
	}
	// Without the small step back, 0.95 × 20 = 19.000000000000004 is rank 20.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return Duration(probe.Some(sorted[max(rank, 1)-1]))
}

// expectedFigures holds the figures of a job's benchmark, which stand beside the figures of
// recent turns.
type expectedFigures struct {
	Source string `json:"source"`
	// Pooled is true if the benchmark does not separate first from follow-up turns.
	Pooled   bool         `json:"pooled"`
	First    expectedKind `json:"first"`
	Followup expectedKind `json:"followup"`
}

// expectedKind holds the figures of one kind of turn; Count is 0 if the benchmark has none.
type expectedKind struct {
	TTFT quantiles `json:"ttft"`
	TPOT quantiles `json:"tpot"`
}

func expectedOf(b *sink.Benchmark) *expectedFigures {
	if b == nil {
		return nil
	}
	e := &expectedFigures{Source: b.Source(), Pooled: b.Pooled}
	for k, kind := range []*expectedKind{&e.First, &e.Followup} { // as probe.TurnKinds
		figures := b.Figures[k]
		kind.TTFT, kind.TPOT = benchmarkQuantiles(figures[0]), benchmarkQuantiles(figures[1]) // as sink.Signals
	}
	return e
}

func benchmarkQuantiles(b sink.SignalFigures) quantiles {
	return quantiles{
		Count: b.Samples.V, P50: Duration(b.Quantiles[0]), P95: Duration(b.Quantiles[1]), P99: Duration(b.Quantiles[2]),
	}
}
