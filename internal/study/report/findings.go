package report

import (
	"fmt"

	"synthetic/internal/study/analysis"
)

// findings come first: what a reader wants to know.
func (b *builder) findings() {
	s := b.section("Findings")
	var lines []string
	if len(b.s.Objectives) > 0 {
		for _, c := range b.capacity {
			lines = append(lines, b.finding(c))
		}
		if b.compares() {
			lines = append(lines, b.winners())
		}
	}
	for _, series := range b.s.Series {
		lines = append(lines, analysis.Saturate(series).Sentence(b.s.LevelName()))
	}
	if n := len(analysis.Warnings(b.s)); n > 0 {
		lines = append(lines, fmt.Sprintf("Warnings: %d. They follow below; read them before relying on a figure.", n))
	}
	s.list(lines)
	if !b.compares() {
		b.sub("Over All Levels").list(rangeLines(b.baseline()))
	}
}

func (b *builder) finding(c analysis.Compliance) string {
	switch {
	case !c.Judged:
		return fmt.Sprintf("%s could not be judged by its SLOs: no level has the figures.", c.Series)
	case c.Highest == 0:
		return fmt.Sprintf("%s meets its SLOs at no %s that was measured.", c.Series, b.s.LevelName())
	}
	return fmt.Sprintf("%s meets its SLOs up to %s %s%s.", c.Series, b.s.LevelName(), at(c.Highest), b.unproven(c))
}

// unproven says how much of a capacity that was seen is proven, where that is
// less: a few good turns meet any objective.
func (b *builder) unproven(c analysis.Compliance) string {
	for _, p := range b.s.Capacities {
		switch {
		case p.Variant != c.Series:
		case p.Level == nil:
			return fmt.Sprintf(" as far as was seen; with a confidence of %.4g%% that is proven of no %s", 100*p.Wanted, b.s.LevelName())
		case *p.Level < c.Highest:
			return fmt.Sprintf(" as far as was seen; with a confidence of %.4g%% that is proven up to %s", 100*p.Wanted, at(*p.Level))
		}
	}
	return ""
}
