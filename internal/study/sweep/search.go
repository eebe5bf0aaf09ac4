package sweep

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"synthetic/internal/study/runfile"
)

// bracket is the search of one variant, in indices of levels. To meet the
// objectives is taken to be monotone in the load; both sides of the answer are
// measured.
type bracket struct {
	variant int
	// passed levels met the objectives, so that the capacity is at or above the
	// highest of them that is below high; proven ones do not have to be
	// measured again.
	passed, proven map[int]bool
	// high is the lowest level that was not proven to meet the objectives, lost
	// the lowest that was proven to miss them, and open the highest that was not
	// proven to do either.
	high, lost, open int
}

func newBracket(variant, levels int) *bracket {
	return &bracket{variant: variant, passed: map[int]bool{}, proven: map[int]bool{}, high: levels, lost: levels, open: -1}
}

// low is the highest level to build on, −1 for none.
func (b *bracket) low() int {
	low := b.high - 1
	for low >= 0 && !b.passed[low] {
		low--
	}
	return low
}

// next is the level to visit and what for, false when all is known: first the
// capacity is closed in, then it is proven, then the lowest level that is
// missed is closed in where levels above the capacity are undecided.
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
		if level > b.high { // against the order of things; it is no miss at least
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

// refined puts levels between those that are listed, so that a level is above the
// one before it by a share of that at most. What is in flight is a whole number.
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

// search closes in the capacity of each variant. Variants take turns, or come
// one after the other in blocks.
func (s *sweep) search(ctx context.Context) error {
	var brackets []*bracket
	for i := range s.Plan.Variants {
		brackets = append(brackets, newBracket(i, len(s.Plan.Levels)))
	}
	// A bisection of each variant, and one level more to prove what it found.
	s.progress.Total = len(brackets) * (bits.Len(uint(len(s.Plan.Levels))) + 1)
	for round := 0; ; round++ {
		left := 0
		for _, v := range s.Plan.turn(round) {
			n, err := s.visitNext(ctx, brackets[v])
			if err != nil {
				return err
			}
			left += n
		}
		if left == 0 {
			return nil
		}
	}
}

// narrow visits a level of a variant, or in blocks all it needs, and returns
// how many that were.
func (s *sweep) visitNext(ctx context.Context, b *bracket) (visited int, err error) {
	for {
		level, p, open := b.next()
		if !open {
			return visited, nil
		}
		s.progress.Number++
		s.progress.Total = max(s.progress.Total, s.progress.Number)
		// The level itself, and as many like it as the search may still need.
		s.coming = slices.Repeat([]int{level}, max(s.progress.Total-s.progress.Number+1, 1))
		c := Cell{b.variant, level, 1}
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
