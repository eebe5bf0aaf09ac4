package sweep

import (
	"context"
	"math/bits"

	"synthetic/internal/fleet"
	"synthetic/internal/study/runs"
)

// bracket is the bisection of one variant, in indices of levels. It assumes that a higher load
// never meets the objectives better.
type bracket struct {
	variant int
	// low is the highest level that is proven to meet the objectives, −1 for none, and high the
	// lowest level that is not.
	low, high int
}

func (b *bracket) next() (level int, ok bool) { return (b.low + b.high) / 2, b.high-b.low > 1 }

func (b *bracket) record(level int, v *runs.LevelVerdict) {
	if v != nil && v.Standing == runs.Met {
		b.low = level
	} else {
		b.high = level
	}
}

// search bisects the levels of each variant. Variants alternate, or follow each other in blocks.
func (s *sweep) search(ctx context.Context) error {
	var brackets []*bracket
	for i := range s.Plan.Variants {
		brackets = append(brackets, &bracket{variant: i, low: -1, high: len(s.Plan.Levels)})
	}
	s.progress.Total = len(brackets) * bits.Len(uint(len(s.Plan.Levels)))
	for round := 0; ; round++ {
		visited := false
		for _, v := range order(s.Plan, round) {
			for {
				level, open := brackets[v].next()
				if !open {
					break
				}
				if err := s.visitNext(ctx, brackets[v], level); err != nil {
					return err
				}
				if visited = true; s.Plan.Order != fleet.Blocks {
					break
				}
			}
		}
		if !visited {
			return nil
		}
	}
}

func (s *sweep) visitNext(ctx context.Context, b *bracket, level int) error {
	s.progress.Number++
	s.progress.Total = max(s.progress.Total, s.progress.Number)
	r, err := s.visit(ctx, cell{b.variant, level, 1})
	if err != nil {
		return err
	}
	b.record(level, r.Verdict)
	return nil
}
