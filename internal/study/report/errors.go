package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

func (b *builder) validRuns() []column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if l.Runs > 1 || l.Runs > l.Valid {
				return []column{{"Valid Runs", validOf}}
			}
		}
	}
	return nil
}

func validOf(l figures.Level) string {
	if l.Runs == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%d/%d", l.Valid, l.Runs)
}

func (b *builder) errors() {
	columns := b.known("error_pct")
	if len(columns) == 0 {
		return
	}
	if b.compares() {
		columns = append(columns, b.validRuns()...)
	}
	s := b.section("Error Rates")
	columns = append(columns, b.known("completed", "failed")...)
	columns = append(columns, b.excluded()...)
	s.table(b.byLevel(columns...))
	b.outcomes()
}

func (b *builder) excluded() []column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if len(l.Excluded) > 0 {
				return []column{{"Left out of latencies", func(l figures.Level) string { return strings.Join(l.Excluded, "; ") }}}
			}
		}
	}
	return nil
}

// outcomes counts failures by how they ended.
func (b *builder) outcomes() {
	seen := map[string]bool{}
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			for outcome := range l.Errors {
				seen[outcome] = true
			}
		}
	}
	if len(seen) == 0 {
		return
	}
	var columns []column
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		columns = append(columns, column{outcome, func(l figures.Level) string { return fmt.Sprint(l.Errors[outcome]) }})
	}
	b.sub("Errors by Outcome").table(b.byLevel(columns...))
}
