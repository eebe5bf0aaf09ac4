package report

import (
	"cmp"
	"fmt"
	"strings"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

func (b *builder) findings() {
	s := b.section("Findings")
	var lines []string
	if b.compares && len(b.s.Objectives) > 0 {
		for _, c := range b.capacity {
			lines = append(lines, b.finding(c))
		}
	}
	lines = append(lines, b.notReached()...)
	if b.compares {
		for _, series := range b.s.Series {
			lines = append(lines, saturate(series).sentence(b.s.LevelName()))
		}
	}
	s.list(lines)
	if !b.compares {
		s.list(rangeLines(b.baseline))
	}
}

// notReached returns a line for each level that did not carry its load, with cause and remedy.
func (b *builder) notReached() (lines []string) {
	for _, series := range b.s.Series {
		for _, l := range series.Levels {
			if l.NotReached != "" {
				lines = append(lines, fmt.Sprintf("**%s did not reach %s %s**, so this level proves nothing: %s.", series.Name, b.s.LevelName(), formatLevel(l.At), l.NotReached))
			}
		}
	}
	return lines
}

func (b *builder) objectiveWords(between string) string {
	var words []string
	for _, o := range b.s.Objectives {
		words = append(words, o.String())
	}
	return strings.Join(words, between)
}

func (b *builder) finding(c Compliance) string {
	slos, level := b.objectiveWords(" and "), b.s.LevelName()
	switch {
	case !c.Judged:
		return fmt.Sprintf("%s could not be judged by %s: %s.", c.Series, slos, b.unjudgedReason(c.Series))
	case c.Highest == 0 && len(c.Seeming) > 0:
		var seeming []string
		for _, at := range c.Seeming {
			seeming = append(seeming, formatLevel(at))
		}
		return fmt.Sprintf("%s is proven to meet %s at no %s that was measured; it seems to at %s: measure for longer.", c.Series, slos, level, strings.Join(seeming, ", "))
	case c.Highest == 0:
		return fmt.Sprintf("%s meets %s at no %s that was measured.", c.Series, slos, level)
	}
	higher := ""
	if c.Top {
		higher = " That is the highest level that was reached: measure higher to find its capacity."
	}
	return fmt.Sprintf("%s meets %s up to %s %s%s.%s", c.Series, slos, level, formatLevel(c.Highest), b.provenPart(c), higher)
}

// capacityUndecided says why the capacity does not decide.
func (b *builder) capacityUndecided(base, own Compliance) string {
	level := b.s.LevelName()
	switch {
	case len(b.s.Objectives) == 0:
		return "No SLO says what their capacities are."
	case !base.Judged || !own.Judged:
		return "Their capacities are not known: the SLOs could not be judged for both."
	case base.Highest == own.Highest && base.Top && own.Top:
		return fmt.Sprintf("Capacity does not decide: both meet the SLOs up to %s %s, the highest level that was reached; measure higher.", level, formatLevel(own.Highest))
	case base.Highest == own.Highest && own.Highest == 0 && len(base.Seeming)+len(own.Seeming) > 0:
		return fmt.Sprintf("Capacity does not decide: neither is proven to meet the SLOs at any %s; measure for longer.", level)
	case base.Highest == own.Highest && own.Highest == 0:
		return fmt.Sprintf("Capacity does not decide: neither meets the SLOs at any %s; measure lower.", level)
	case base.Highest == own.Highest:
		return fmt.Sprintf("Capacity does not decide: both meet the SLOs up to %s %s.", level, formatLevel(own.Highest))
	}
	return fmt.Sprintf("Capacity does not decide: %s meets the SLOs up to %s %s and %s up to %s, but this difference is not proven; measure both up to the same levels, for longer.",
		own.Series, level, formatLevel(own.Highest), base.Series, formatLevel(base.Highest))
}

// provenPart says which part of an observed capacity is proven, if not all.
func (b *builder) provenPart(c Compliance) string {
	for _, p := range b.s.Capacities {
		switch {
		case p.Variant != c.Series:
		case p.Level == nil:
			return fmt.Sprintf(" in this measurement; no %s is proven with a confidence of %.4g%%", b.s.LevelName(), 100*p.Wanted)
		case *p.Level < c.Highest:
			return fmt.Sprintf(" in this measurement; it is proven up to %s with a confidence of %.4g%%", formatLevel(*p.Level), 100*p.Wanted)
		}
	}
	return ""
}

func (b *builder) compliance() {
	if len(b.s.Objectives) == 0 {
		return
	}
	targets := table{Header: []string{"Objective", "Target"}, Left: true}
	for _, o := range b.s.Objectives {
		targets.Rows = append(targets.Rows, cells(o.Name, fmt.Sprintf("%s, that is %g%% of turns good", o, o.Share)))
	}
	b.table("SLO Targets", targets)
	s := b.section("SLO Compliance Matrix")
	s.paragraph("PASS = " + b.objectiveWords(" AND "))
	undecided := false
	s.table(b.byLevel(column{title: "SLO", cell: func(l figures.Level) cell {
		v := Judge(b.s.Objectives, l)
		undecided = undecided || v.Standing == runfile.Undecided
		color := map[runfile.Standing]class{runfile.Met: classGood, runfile.Missed: classBad}[v.Standing]
		return cell{v.String(), cmp.Or(color, classUnknown)}
	}}))
	if undecided {
		s.paragraph("UNDECIDED: the level is too close to its SLOs, or has too few turns, to prove that it meets or misses them.")
	}
	b.winner()
}

func (b *builder) winner() {
	title := "Winner Identification"
	if !b.compares {
		title = "Highest Compliant Level"
	}
	s := b.section(title)
	t := table{Header: []string{"Label", "Max SLO-Compliant " + b.level}}
	goodput := b.s.Has(figures.GoodputPerSecond)
	if goodput {
		t.Header = append(t.Header, "Goodput there")
	}
	if b.compares {
		t.Header = append(t.Header, "Capacity vs Baseline")
	}
	for i, c := range b.capacity {
		row := []cell{{Text: c.Series}, foundCell(c.Judged, c.Highest > 0, formatLevel(c.Highest))}
		if c.Winner {
			row[0].Text += " **WINNER**"
		}
		if goodput {
			row = append(row, figure(figures.GoodputPerSecond, c.At))
		}
		if b.compares {
			row = append(row, cellIf(i == 0 || c.Judged && b.capacity[0].Judged, capacityChange(i, c, b.capacity[0])))
		}
		t.Rows = append(t.Rows, row)
	}
	s.table(t)
	var proven []string
	for _, c := range b.s.Capacities {
		proven = append(proven, fmt.Sprintf("%s: %s; %d levels were measured for %.0f s.", c.Variant, c.Sentence(b.s.LevelName()), len(c.Visited), c.MeasuredSeconds))
	}
	s.list(proven)
}

func capacityChange(i int, c, base Compliance) string {
	switch {
	case i == 0:
		return "—"
	case c.Unmeasured:
		return "not known"
	case base.Highest == 0:
		return "the baseline has none"
	}
	return formatChange(1+c.ChangePct/100, 0)
}
