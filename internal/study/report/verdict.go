package report

import (
	"cmp"
	"slices"

	"synthetic/internal/study/figures"
)

// badge is the answer at the top of a report.
type badge struct {
	Word  string // "better", "inconclusive" or similar
	Class class  // the color of Word
	// Headline states it with the main figure, Reason why it holds.
	Headline, Reason string
}

// leadTiming returns the latency of the first picture: that of the SLO that ends a capacity,
// otherwise one with an SLO, preferably the TTFT.
func (b *builder) leadTiming() figures.Timing {
	leading := figures.NoTiming
	for _, c := range b.capacity {
		for _, o := range b.s.Objectives {
			if c.Missed == nil || o.Turns != figures.AllTurns || !b.drawable(o.Metric()) {
				continue
			}
			l, _ := b.s.SeriesNamed(c.Variant).Level(*c.Missed)
			if slices.Contains(Judge(b.s.Objectives, l).MissedNames(), o.Name) {
				return o.Timing
			}
		}
	}
	for _, o := range b.s.Objectives {
		if o.Turns == figures.AllTurns && b.drawable(o.Metric()) && (leading == figures.NoTiming || o.Timing == figures.TTFT) {
			leading = o.Timing
		}
	}
	return cmp.Or(leading, figures.TTFT)
}
