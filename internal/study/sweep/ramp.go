package sweep

import (
	"math"
	"time"
)

// Ramp is how an open level comes to its rate while it is measured: from a share of
// it, evenly or in equal steps, Over the first part of the measurement. The zero
// value is at its rate at once.
type Ramp struct {
	From  float64
	Over  time.Duration
	Steps int
}

// segment is a part of a ramp in seconds, whose rate goes from one share to another.
type segment struct{ length, from, to float64 }

// segments are the parts of a level whose measurement begins after so long.
func (r Ramp) segments(before time.Duration) []segment {
	out := []segment{{before.Seconds(), r.From, r.From}}
	if r.Steps == 0 {
		out = append(out, segment{r.Over.Seconds(), r.From, 1})
	}
	for i := range r.Steps {
		share := 1.0
		if r.Steps > 1 {
			share = r.From + (1-r.From)*float64(i)/float64(r.Steps-1)
		}
		out = append(out, segment{r.Over.Seconds() / float64(r.Steps), share, share})
	}
	return append(out, segment{math.Inf(1), 1, 1})
}

// bend puts starts of an even rate where they come on the ramp: as many have come as
// its rate adds up to. It takes them in order.
func (r Ramp) bend(before time.Duration) func(time.Duration) time.Duration {
	if r.Over == 0 {
		return nil
	}
	left := r.segments(before)
	done, passed := 0.0, 0.0 // starts and time of the segments before, both in seconds
	return func(even time.Duration) time.Duration {
		due := even.Seconds()
		for due-done > left[0].starts() || left[0].starts() == 0 {
			done, passed = done+left[0].starts(), passed+left[0].length
			left = left[1:]
		}
		return time.Duration((passed + left[0].when(due-done)) * float64(time.Second))
	}
}

// starts is what the segment adds up to.
func (s segment) starts() float64 { return s.length * (s.from + s.to) / 2 }

// when is the time at which it has added up to n.
func (s segment) when(n float64) float64 {
	slope := (s.to - s.from) / s.length
	switch {
	case n <= 0:
		return 0
	case slope == 0:
		return n / s.from
	}
	return 2 * n / (s.from + math.Sqrt(s.from*s.from+2*slope*n)) // no difference of near numbers
}
