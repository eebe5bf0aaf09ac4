package report

import (
	"cmp"
	"fmt"

	"synthetic/internal/study/figures"
)

// Badge is the answer at the top of a report.
type Badge struct {
	// Word is "better", "inconclusive" or similar; Class is its color.
	Word  string
	Class Class
	// Headline states it with the main figure, Reason why it holds.
	Headline, Reason string
}

// addVerdicts adds the badges and one picture.
func (b *builder) addVerdicts() {
	pareto := false
	for i, series := range b.s.Series[1:] {
		d := figures.Decide(b.s, series, b.capacity[0], b.capacity[i+1])
		b.doc.Verdicts = append(b.doc.Verdicts, b.comparisonBadge(d, b.capacity[i+1]))
		pareto = pareto || d.Criterion == figures.ByThroughput
	}
	if !b.compares {
		b.doc.Verdicts = []Badge{b.singleBadge(b.capacity[0])}
	}
	b.doc.Picture = b.latencyPicture(b.leadTiming())
	if pareto || b.doc.Picture == nil {
		b.doc.Picture = cmp.Or(b.pareto(), b.doc.Picture)
	}
}

// comparisonBadge compares a series with the baseline.
func (b *builder) comparisonBadge(d figures.Decision, own figures.Compliance) Badge {
	v := Badge{Word: string(d.Verdict), Headline: d.Headline(), Reason: d.Explanation()}
	v.Class = map[figures.Winner]Class{figures.Better: Good, figures.Worse: Bad}[d.Verdict]
	if d.Criterion != figures.ByCapacity {
		v.Reason += " " + b.capacityUndecided(b.capacity[0], own)
	}
	return v
}

// singleBadge judges a single series by its SLOs.
func (b *builder) singleBadge(c figures.Compliance) Badge {
	v := Badge{Word: string(figures.Inconclusive), Headline: b.finding(c)}
	switch saturates := figures.Saturate(b.baseline).Sentence(b.s.LevelName()); {
	case len(b.s.Objectives) == 0:
		return Badge{"not judged", "", saturates, "No SLO says what is good enough: judge it by one, such as --slo='ttft_p99<1s'."}
	case !c.Judged:
		return v
	case c.Least > 0:
		v.Word, v.Class = "meets its SLOs", Good
	case c.Most == 0:
		v.Word, v.Class = "misses its SLOs", Bad
	default:
		v.Reason = "Neither that a level meets them nor that all miss them is proven: measure longer, or lower. "
	}
	v.Reason += fmt.Sprintf("Capacity: %s %s. %s", b.s.LevelName(), c.Between(), figures.Saturate(b.baseline).Sentence(b.s.LevelName()))
	return v
}

// unjudgedReason says why no level of a series could be judged.
func (b *builder) unjudgedReason(series string) string {
	for _, l := range b.s.SeriesNamed(series).Levels {
		if why := figures.Unsound(l); why != "" {
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
