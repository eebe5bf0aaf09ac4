package status

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sidecar/sink"
)

// Expected is what a benchmark makes one expect of a job's turns. It is shown
// beside the figures of the recent turns, and is no part of them.
type Expected struct {
	// Source says where it was measured, in words.
	Source string `json:"source"`
	// Pooled says that it does not tell first turns from follow-up turns.
	Pooled   bool         `json:"pooled"`
	First    ExpectedKind `json:"first"`
	Followup ExpectedKind `json:"followup"`
}

// ExpectedKind are the figures of first or of follow-up turns; Count is 0 where
// the benchmark does not say.
type ExpectedKind struct {
	TTFT Quantiles `json:"ttft"`
	TPOT Quantiles `json:"tpot"`
}

// expectedOf is what a benchmark makes one expect; nil without one.
func expectedOf(b *sink.Benchmark) *Expected {
	if b == nil {
		return nil
	}
	e := &Expected{Source: b.Source(), Pooled: b.Pooled}
	for k, kind := range []*ExpectedKind{&e.First, &e.Followup} { // as probe.TurnKinds
		of := b.Figures[k]
		kind.TTFT, kind.TPOT = quantilesOf(of[0]), quantilesOf(of[1]) // as regression.Signals
	}
	return e
}

func quantilesOf(b regression.Benchmark) Quantiles {
	known := func(d time.Duration) Duration { return Duration(probe.Opt[time.Duration]{V: d, OK: d > 0}) }
	return Quantiles{Count: b.Samples, P50: known(b.Quantiles[0]), P95: known(b.Quantiles[1]), P99: known(b.Quantiles[2])}
}

// expectedRow is the line under a row of figures; false where nothing is
// known.
func expectedRow(q Quantiles) (row, bool) {
	return row{"… expected", q, true}, q.P50.OK || q.P95.OK || q.P99.OK
}
