package report

import (
	"fmt"
	"math"

	"synthetic/internal/study/figures"
)

func (b *builder) targets() {
	targets := table{Header: []string{"Objective", "Target"}, Left: true}
	for _, o := range b.s.Objectives {
		targets.Rows = append(targets.Rows, cells(o.Name, fmt.Sprintf("%s, that is %g%% of turns good", o, o.Share)))
	}
	b.table("SLO Targets", targets)
}

func (b *builder) winner() {
	if len(b.s.Objectives) == 0 {
		return
	}
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
		row := []cell{{Text: c.Variant}, foundCell(c.Judged, c.Level != nil, formatLevel(c.Least))}
		if c.Winner {
			row[0].Text += " **WINNER**"
		}
		if goodput {
			row = append(row, figure(figures.GoodputPerSecond, c.At))
		}
		if b.compares {
			change := "—"
			if i > 0 {
				change = formatChange(c.Change, 0)
			}
			row = append(row, cellIf(i == 0 || !math.IsNaN(c.Change), change))
		}
		t.Rows = append(t.Rows, row)
	}
	s.table(t)
	var proven []string
	for _, c := range b.capacity {
		if len(c.Visited) > 0 { // a sweep measured it
			proven = append(proven, fmt.Sprintf("%s: %s; %d levels were measured for %s s.", c.Variant, c.Sentence(b.s.LevelKind()), len(c.Visited), figures.Digits(c.MeasuredSeconds, 0)))
		}
	}
	s.list(proven)
}
