package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

func (b *builder) validRuns() []column {
	return b.where(func(l figures.Level) bool { return l.Runs > 1 || l.Runs > l.Valid }, "Valid Runs", func(l figures.Level) string {
		if l.Runs == 0 {
			return "n/a"
		}
		return fmt.Sprintf("%d/%d", l.Valid, l.Runs)
	})
}

func (b *builder) errors() {
	columns := b.known(figures.ErrorPct)
	if len(columns) == 0 {
		return
	}
	if b.compares() {
		columns = append(columns, b.validRuns()...)
	}
	columns = append(columns, b.known(figures.Completed, figures.Failed)...)
	columns = append(columns, b.where(func(l figures.Level) bool { return len(l.Excluded) > 0 }, "Left out of latencies",
		func(l figures.Level) string { return strings.Join(l.Excluded, "; ") })...)
	b.section("Error Rates").table(b.byLevel(columns...))
	b.outcomes()
}

// outcomes counts failures by how they ended.
func (b *builder) outcomes() {
	seen := map[string]uint64{}
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			maps.Copy(seen, l.Errors)
		}
	}
	var columns []column
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		columns = append(columns, column{outcome, func(l figures.Level) string { return fmt.Sprint(l.Errors[outcome]) }})
	}
	if len(columns) > 0 {
		b.sub("Errors by Outcome").table(b.byLevel(columns...))
	}
}
