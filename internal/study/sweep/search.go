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
// never meets the objectives better. It measures both sides of the capacity, in at most the time
// of all listed levels. Times are multiples of the time of a level.
type bracket struct {
	variant int
	levels  int
	// passed levels met the objectives. The capacity is at least the highest of them below
	// high. proven levels need no further measurement.
	passed, proven map[int]bool
	// high is the lowest level that was not proven to meet the objectives, lost the lowest that
	// was proven to miss them, and open the highest undecided one.
	high, lost, open int
	left             float64 // time
}

// newBracket returns the search for a variant in a number of levels, of which some are listed in
// the plan.
func newBracket(variant, levels, listed int) *bracket {
	return &bracket{
		variant: variant, levels: levels, passed: map[int]bool{}, proven: map[int]bool{},
		high: levels, lost: levels, open: -1, left: float64(listed),
	}
}

// low returns the highest passed level below high, −1 for none.
func (b *bracket) low() int {
	low := b.high - 1
	for low >= 0 && !b.passed[low] {
		low--
	}
	return low
}

// searchStep is the next level of a search.
type searchStep struct {
	level int
	purpose
	most float64 // the time after which the search continues without a decision
}

// next returns the next step, false if the search is done. It first measures the highest level,
// which proves a deployment with more capacity than that at once. Then it brackets the capacity,
// proves it, and brackets the lowest missed level if levels above the capacity are undecided.
// Bracketing leaves the time for a proof. Without that time it proves the highest passed level.
func (b *bracket) next() (next searchStep, ok bool) {
	low := b.low()
	forProof := 1.0
	if low >= 0 && b.proven[low] {
		forProof = 0
	}
	most := min(b.left-forProof, 1)
	whole := b.left > 1-roundedTime
	switch top := max(low, b.open); {
	case b.high == b.levels && low < 0:
		return searchStep{b.levels - 1, confirming, 1}, true
	case b.high-low > 2 && most >= minProvisional:
		return searchStep{(low + b.high) / 2, bracketing, most}, true
	case b.high-low == 2 && whole: // if it passes, it is the capacity
		return searchStep{low + 1, confirming, 1}, true
	case low >= 0 && !b.proven[low]:
		return searchStep{low, confirming, 1}, whole
	case b.high-low > 2: // nothing has passed
		return searchStep{(low + b.high) / 2, confirming, 1}, low < 0 && whole
	default:
		return searchStep{(top + b.lost) / 2, bracketing, most}, b.lost-top > 1 && most >= minProvisional
	}
}

// record adds the verdict on a level that took some time.
func (b *bracket) record(level int, v *runfile.LevelVerdict, time float64) {
	b.left -= time
	met := v != nil && v.Standing == runfile.Met
	seems := v != nil && v.Standing == runfile.Undecided &&
		(v.Decided == runfile.DecidedProvisional || v.Met && v.Decided == runfile.DecidedMeasured)
	switch {
	case met || seems && !b.passed[level]:
		if level > b.high { // a lower level failed; this one does not count as missed
			b.open = max(b.open, level)
			return
		}
		b.passed[level], b.proven[level] = true, met
	case v != nil && v.Standing != runfile.Missed:
		b.high, b.open = min(b.high, level), max(b.open, level)
	default:
		b.high, b.lost = min(b.high, level), min(b.lost, level)
	}
}

// roundedTime is how much the time of a level may differ from the planned one.
const roundedTime = 0.05

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
		brackets = append(brackets, newBracket(i, len(s.Plan.Levels), s.listed))
	}
	// The highest level, a bisection for each variant, and one more level to prove the result.
	s.progress.Total = len(brackets) * (bits.Len(uint(len(s.Plan.Levels))) + 2)
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
		next, open := b.next()
		if !open {
			return visited, nil
		}
		s.progress.Number++
		s.progress.Total = max(s.progress.Total, s.progress.Number)
		// Estimates the remaining levels as copies of this one.
		s.coming = slices.Repeat([]int{next.level}, max(s.progress.Total-s.progress.Number+1, 1))
		c := cell{b.variant, next.level, 1}
		if b.passed[next.level] {
			c.Repetition = 2
		}
		s.most = next.most
		r, err := s.visit(ctx, c, next.purpose)
		if err != nil {
			return visited, err
		}
		b.record(next.level, s.verdictOf(r), s.Plan.share(r))
		if visited++; s.Plan.Order != Blocks {
			return visited, nil
		}
	}
}

// verdictOf returns the verdict on a level: that of a second visit together with the first.
func (s *sweep) verdictOf(r *runfile.Result) *runfile.LevelVerdict {
	if r.Repetition == 1 || r.Verdict == nil {
		return r.Verdict
	}
	same := slices.DeleteFunc(slices.Clone(s.run.Results), func(x runfile.Result) bool { return x.Variant != r.Variant || x.Level != r.Level })
	return s.Plan.judge().Level(s.run, same)
}

// share returns how much of the planned time of a level a result took, 1 if that is unknown.
func (p Plan) share(r *runfile.Result) float64 {
	planned := p.Measure.Duration().Seconds()
	if planned == 0 {
		return 1
	}
	seconds := 0.0
	for _, snapshot := range r.Snapshots {
		seconds += snapshot.Seconds
	}
	return seconds / planned
}
