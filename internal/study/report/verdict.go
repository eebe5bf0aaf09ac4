package report

import (
	"cmp"
	"fmt"

	"synthetic/internal/study/figures"
)

// badge is the answer at the top of a report.
type badge struct {
	Word  string // "better", "inconclusive" or similar
	Class class  // the color of Word
	// Headline states it with the main figure, Reason why it holds.
	Headline, Reason string
}

func (b *builder) addVerdicts() {
	pareto := false
	for i, series := range b.s.Series[1:] {
		d := compareSeries(b.s, series, b.capacity[0], b.capacity[i+1])
		b.doc.Verdicts = append(b.doc.Verdicts, b.comparisonBadge(d, b.capacity[i+1]))
		pareto = pareto || d.Criterion == byThroughput
	}
	if !b.compares {
		b.doc.Verdicts = []badge{b.singleBadge(b.capacity[0])}
	}
	b.doc.Picture = b.latencyPicture(b.leadTiming())
	if pareto || b.doc.Picture == nil {
		b.doc.Picture = cmp.Or(b.pareto(), b.doc.Picture)
	}
}

func (b *builder) comparisonBadge(d decision, own Compliance) badge {
	v := badge{Word: string(d.Verdict), Headline: d.headline(), Reason: d.explanation()}
	v.Class = map[comparisonResult]class{resultBetter: classGood, resultWorse: classBad}[d.Verdict]
	if d.Criterion != byCapacity {
		v.Reason += " " + b.capacityUndecided(b.capacity[0], own)
	}
	return v
}

// singleBadge judges a single series by its SLOs.
func (b *builder) singleBadge(c Compliance) badge {
	v := badge{Word: string(resultInconclusive), Headline: b.finding(c)}
	switch saturates := saturate(b.baseline).sentence(b.s.LevelName()); {
	case len(b.s.Objectives) == 0:
		return badge{"not judged", "", saturates, "No SLO is given. Add one, such as --slo='ttft_p99<1s'."}
	case !c.Judged:
		return v
	case c.Least > 0:
		v.Word, v.Class = "meets its SLOs", classGood
	case c.Most == 0:
		v.Word, v.Class = "misses its SLOs", classBad
	default:
		v.Reason = "The measurement proves neither that a level meets them nor that all miss them: measure longer, or at lower levels. "
	}
	v.Reason += fmt.Sprintf("Capacity: %s %s. %s", b.s.LevelName(), c.between(), saturate(b.baseline).sentence(b.s.LevelName()))
	return v
}

func (b *builder) unjudgedReason(series string) string {
	for _, l := range b.s.SeriesNamed(series).Levels {
		if why := unsound(l); why != "" {
			return fmt.Sprintf("at %s %s, %s", b.s.LevelName(), formatLevel(l.At), why)
		}
	}
	return fmt.Sprintf("no %s has the figures", b.s.LevelName())
}

// leadTiming returns the latency of the first picture: one with an SLO, preferably the TTFT.
func (b *builder) leadTiming() figures.Timing {
	leading := figures.NoTiming
	for _, o := range b.s.Objectives {
		if o.Turns == figures.AllTurns && b.drawable(o.Metric()) && (leading == figures.NoTiming || o.Timing == figures.TTFT) {
			leading = o.Timing
		}
	}
	return cmp.Or(leading, figures.TTFT)
}
