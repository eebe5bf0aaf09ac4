package status

import (
	"slices"

	"synthetic/internal/probe"
)

// Expected is what a benchmark makes one expect of a job's turns. It is shown
// beside the figures of the recent turns, and is no part of them.
type Expected struct {
	Target   string `json:"-"`
	Workload string `json:"-"`
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

// Expect sets what is expected, at most one for each job.
func (p *Page) Expect(all []Expected) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = slices.Clone(all)
}

// expectedOf finds what is expected of a job; nil for nothing.
func expectedOf(all []Expected, key probe.Key) *Expected {
	i := slices.IndexFunc(all, func(e Expected) bool { return e.Target == key.Target && e.Workload == key.Workload })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// expectedRow is the line under a row of figures; false where nothing is
// known.
func expectedRow(q Quantiles) (row, bool) {
	return row{"… expected", q, true}, q.P50.OK || q.P95.OK || q.P99.OK
}
