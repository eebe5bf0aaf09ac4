package status

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// figures summarises samples, without their span.
func figures(samples []sample) recentFigures {
	r := recentFigures{Turns: len(samples), Reasons: []failureReason{}}
	failed := map[probe.Outcome]int{}
	var prompt, cached int
	for _, s := range samples {
		r.Sessions.Count(s.session, s.prompt, s.cached)
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

// outage returns where the failures begin that have lasted for three turns and half a minute up to now, else 0: where a
// part of the turns fails, a few fail in a row. The turns before an outage say nothing about it. A refusal for load does
// not end it.
func outage(samples []sample, now time.Time) int {
	first, failed := 0, 0
	for i, s := range slices.Backward(samples) {
		if s.outcome.Busy() {
			continue
		}
		if !s.outcome.Failed() || s.outcome.WrongAnswer() {
			break
		}
		first, failed = i, failed+1
	}
	if failed < 3 || now.Sub(samples[first].end) < 30*time.Second {
		return 0
	}
	return first
}

// period returns the time that recent samples cover, also in words.
func period(recent []sample, outage bool, now time.Time, age time.Duration) (span Duration, words string) {
	span.OK = true
	switch span.V = min(window, age); {
	case outage:
		span.V = now.Sub(recent[0].end)
		words = "since the outage began, " + span.String() + " ago"
	case len(recent) == samplesKept:
		span.V = now.Sub(recent[0].end)
		words = fmt.Sprintf("over the last %d turns, %s", samplesKept, span)
	case age < window:
		words = "since the start, " + span.String()
	default:
		words = "over the last " + span.String()
	}
	return span, words
}

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
			all = append(all, infinite)
		}
		if s.tpot.OK {
			tpot = append(tpot, s.tpot.V)
		}
	}
	k.TTFT, k.TTFTAll, k.TPOT = quantilesOf(ttft), quantilesOf(all), quantilesOf(tpot)
	return k
}

// judge returns the result of a job's samples for each objective that covers it.
func judge(key probe.Key, samples []sample, objectives []slo.Objective) []SLO {
	out := []SLO{}
	for _, o := range objectives {
		if !o.CoversJob(key.Target, key.Workload) {
			continue
		}
		s := SLO{Name: o.Name, SLI: o.SLI, Objective: share(probe.Some(o.Objective)), Uncached: o.Uncached.String(), Miss: rules.Miss(o)}
		if o.SLI.HasThreshold() {
			s.Threshold = Duration(probe.Some(o.Threshold))
			s.PerThousand = Duration{V: o.PerThousand, OK: o.PerThousand > 0}
		}
		for _, sample := range samples {
			r := sample.result(key)
			v := o.Judge(r)
			if v == slo.NotJudged {
				continue
			}
			s.Judged++
			if v == slo.Good {
				s.Good++
			}
			if o.CacheUnknown(r) {
				s.CacheUnknown++
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

// nearestRank returns the smallest of the sorted values that a share of at least q of them does not exceed.
func nearestRank(sorted []time.Duration, q float64) Duration {
	if len(sorted) == 0 {
		return Duration{}
	}
	// Without the small step back, 0.95 × 20 = 19.000000000000004 is rank 20.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return Duration(probe.Some(sorted[max(rank, 1)-1]))
}
