package sweep

import (
	"context"

	"synthetic/internal/runfile"
)

// bracket is the search of one variant: every level up to low is taken to meet
// the objectives, every one from high on not to. Meeting them is taken to be
// monotone in the load; both sides of the answer are measured.
type bracket struct {
	variant   int
	low, high int
	capacity  runfile.Capacity
}

// next is the level to visit, false when the bracket is closed.
func (b *bracket) next() (int, bool) {
	return (b.low + b.high) / 2, b.high-b.low > 1
}

// take narrows the bracket by the result of a level.
func (b *bracket) take(level int, r *runfile.Result) {
	b.capacity.Visited = append(b.capacity.Visited, r.Level)
	for _, s := range r.Snapshots {
		b.capacity.MeasuredSeconds += s.Seconds
	}
	if r.Verdict == nil || !r.Verdict.Met {
		b.high = level
		return
	}
	b.low = level
	b.capacity.Level, b.capacity.Confidence = &r.Level, r.Verdict.Confidence
}

// search bisects the levels of each variant. Variants take turns, or come one
// after the other in blocks.
func (s *sweep) search(ctx context.Context) error {
	brackets := s.brackets()
	defer func() {
		for _, b := range brackets {
			s.run.Capacities = append(s.run.Capacities, b.capacity)
		}
	}()
	for round := 0; ; round++ {
		left := 0
		for _, v := range s.Plan.turn(round) {
			n, err := s.narrow(ctx, brackets[v])
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

func (s *sweep) brackets() []*bracket {
	var out []*bracket
	for i, v := range s.Plan.Variants {
		b := &bracket{variant: i, low: -1, high: len(s.Plan.Levels)}
		b.capacity = runfile.Capacity{Variant: v.Name, Wanted: s.Plan.Confidence}
		if d := s.Plan.Measure.Duration(); d > 0 {
			seconds := d.Seconds() * float64(len(s.Plan.Levels))
			b.capacity.GridSeconds = &seconds
		}
		out = append(out, b)
	}
	s.progress.Total = len(out) * visits(len(s.Plan.Levels))
	return out
}

// visits is the most levels that a bisection of n visits.
func visits(n int) int {
	most := 0
	for ; n > 0; n /= 2 {
		most++
	}
	return most
}

// narrow visits a level of a variant, or in blocks all it needs, and returns
// how many that were.
func (s *sweep) narrow(ctx context.Context, b *bracket) (visited int, err error) {
	for {
		level, open := b.next()
		if !open {
			return visited, nil
		}
		s.progress.Number++
		s.expect(b, level)
		r, err := s.visit(ctx, Cell{b.variant, level, 1})
		if err != nil {
			return visited, err
		}
		b.take(level, r)
		if visited++; s.Plan.Order != Blocks {
			return visited, nil
		}
	}
}

// expect estimates what is to come: the level itself and as many like it as
// the search may still need.
func (s *sweep) expect(b *bracket, level int) {
	s.coming = s.coming[:0]
	for range max(s.progress.Total-s.progress.Number+1, 1) {
		s.coming = append(s.coming, level)
	}
}
