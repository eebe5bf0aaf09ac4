package sweep

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"synthetic/internal/study/runfile"
)

// bracket is the search of one variant, in indices of levels. It assumes that a higher load
// never meets the objectives better. It measures both sides of the capacity.
type bracket struct {
	variant int
	// passed levels met the objectives. The capacity is at least the highest of them below
	// high. proven levels need no further measurement.
	passed, proven map[int]bool
	// high is the lowest level that was not proven to meet the objectives, lost the lowest that
	// was proven to miss them, and open the highest undecided one.
	high, lost, open int
}

func newBracket(variant, levels int) *bracket {
	return &bracket{variant: variant, passed: map[int]bool{}, proven: map[int]bool{}, high: levels, lost: levels, open: -1}
}

// low returns the highest passed level below high, −1 for none.
func (b *bracket) low() int {
	low := b.high - 1
	for low >= 0 && !b.passed[low] {
		low--
	}
	return low
}

// next returns the next level and its purpose, false if the search is done. It first brackets
// the capacity, then proves it, and then brackets the lowest missed level if levels above the
// capacity are undecided.
func (b *bracket) next() (level int, p purpose, ok bool) {
	low := b.low()
	switch top := max(low, b.open); {
	case b.high-low > 2:
		return (low + b.high) / 2, bracketing, true
	case b.high-low == 2:
		return low + 1, confirming, true // if it passes, it is the capacity
	case low >= 0 && !b.proven[low]:
		return low, confirming, true
	default:
		return (top + b.lost) / 2, bracketing, b.lost-top > 1
	}
}

func (b *bracket) record(level int, v *runfile.LevelVerdict) {
	met := v != nil && v.Standing == runfile.Met
	switch {
	case met || v != nil && v.Decided == runfile.DecidedProvisional:
		if level > b.high { // a lower level failed; this one does not count as missed
			b.open = max(b.open, level)
			return
		}
		b.passed[level], b.proven[level] = true, met
	case v != nil && v.Standing == runfile.Undecided:
		b.high, b.open = min(b.high, level), max(b.open, level)
	default:
		b.high, b.lost = min(b.high, level), min(b.lost, level)
	}
}

// refineLevels adds levels so that each one exceeds the previous one by at most the given
// share. Concurrency levels are whole numbers.
func refineLevels(listed []float64, share float64, kind runfile.LevelKind) []float64 {
	out := listed[:1:1]
	for i, high := range listed[1:] {
		low := listed[i]
		steps := math.Ceil(math.Log(high/low)/math.Log1p(share) - 1e-9)
		for n := 1.0; n <= steps; n++ {
			level := low * math.Pow(high/low, n/steps)
			if n == steps {
				level = high
			} else if kind == runfile.Concurrency {
				level = math.Round(level)
			} else {
				level, _ = strconv.ParseFloat(strconv.FormatFloat(level, 'g', 3, 64), 64)
			}
			if level > out[len(out)-1] && level <= high {
				out = append(out, level)
			}
		}
	}
	return out
}

// search brackets the capacity of each variant. Variants alternate, or follow each other in
// blocks.
func (s *sweep) search(ctx context.Context) error {
	var brackets []*bracket
	for i := range s.Plan.Variants {
		brackets = append(brackets, newBracket(i, len(s.Plan.Levels)))
	}
	// A bisection for each variant, and one more level to prove the result.
	s.progress.Total = len(brackets) * (bits.Len(uint(len(s.Plan.Levels))) + 1)
	for round := 0; ; round++ {
		visited := 0
		for _, v := range s.Plan.turn(round) {
			n, err := s.visitNext(ctx, brackets[v])
			if err != nil {
				return err
			}
			visited += n
		}
		if visited == 0 {
			return nil
		}
	}
}

// visitNext visits the next level of a variant, or all its levels in blocks, and returns their
// number.
func (s *sweep) visitNext(ctx context.Context, b *bracket) (visited int, err error) {
	for {
		level, p, open := b.next()
		if !open {
			return visited, nil
		}
		s.progress.Number++
		s.progress.Total = max(s.progress.Total, s.progress.Number)
		// Estimates the remaining levels as copies of this one.
		s.coming = slices.Repeat([]int{level}, max(s.progress.Total-s.progress.Number+1, 1))
		c := cell{b.variant, level, 1}
		if b.passed[level] {
			c.Repetition = 2
		}
		r, err := s.visit(ctx, c, p)
		if err != nil {
			return visited, err
		}
		b.record(level, r.Verdict)
		if visited++; s.Plan.Order != Blocks {
			return visited, nil
		}
	}
}
