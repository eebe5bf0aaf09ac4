package sweep

import (
	"math"
	"strconv"
	"time"

	"synthetic/internal/study/runfile"
)

// Ramp raises the rate of an open level during the first part of the measurement, Over, from a
// share of it, evenly or in equal steps. The zero value starts at the full rate.
type Ramp struct {
	From  float64
	Over  time.Duration
	Steps int
}

// segment is a part of a ramp: its length in seconds, and its first and last share of the rate.
type segment struct{ length, from, to float64 }

// segments returns the segments of a level whose measurement begins after the given time.
func (r Ramp) segments(before time.Duration) []segment {
	out := []segment{{before.Seconds(), r.From, r.From}}
	if r.Steps == 0 {
		out = append(out, segment{r.Over.Seconds(), r.From, 1})
	}
	for i := range r.Steps {
		out = append(out, segment{r.Over.Seconds() / float64(r.Steps), r.share(i), r.share(i)})
	}
	return append(out, segment{math.Inf(1), 1, 1})
}

// share returns the share of the rate in a step, from 0.
func (r Ramp) share(step int) float64 {
	if r.Steps == 1 {
		return 1
	}
	return r.From + (1-r.From)*float64(step)/float64(r.Steps-1)
}

// levels returns the rates of the steps, or the whole rate without steps.
func (r Ramp) levels(whole float64) (out []float64) {
	for i := range r.Steps {
		out = append(out, FourDigits(whole*r.share(i)))
	}
	if out == nil {
		return []float64{whole}
	}
	return out
}

// splitSteps makes a level of every step of a ramp, which is a snapshot, so that one pass gives
// a whole curve. Without steps it returns the level.
func (s *sweep) splitSteps(r runfile.Result) (out []runfile.Result) {
	if s.Plan.Ramp.Steps == 0 {
		return []runfile.Result{r}
	}
	levels := s.Plan.Ramp.levels(r.Level)
	for i, snapshot := range r.Snapshots {
		step := r
		step.Level = levels[i]
		step.Started, step.Snapshots = snapshot.Started, r.Snapshots[i:i+1]
		step.Ended = snapshot.End()
		if i < len(r.Snapshots)-1 {
			step.State, step.Why, step.Tail = runfile.Complete, "", nil
		}
		if r.Verdict != nil && !step.GaveUp() {
			step.Verdict = s.Plan.judge().Conclude(s.run, step)
		}
		out = append(out, step)
	}
	return out
}

// FourDigits rounds a level to 4 digits, because it is also a name.
func FourDigits(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // cannot fail
	return x
}

// warp returns a function that maps starts at an even rate, in rising order, to times on the
// ramp with as many starts before them.
func (r Ramp) warp(before time.Duration) func(time.Duration) time.Duration {
	if r.Over == 0 {
		return nil
	}
	segments := r.segments(before)
	done, passed := 0.0, 0.0 // of earlier segments: starts and time, in seconds
	return func(even time.Duration) time.Duration {
		due := even.Seconds()
		for due-done > segments[0].starts() || segments[0].starts() == 0 {
			done, passed = done+segments[0].starts(), passed+segments[0].length
			segments = segments[1:]
		}
		return time.Duration((passed + segments[0].when(due-done)) * float64(time.Second))
	}
}

func (s segment) starts() float64 { return s.length * (s.from + s.to) / 2 }

func (s segment) when(n float64) float64 {
	slope := (s.to - s.from) / s.length
	switch {
	case n <= 0:
		return 0
	case slope == 0:
		return n / s.from
	}
	return 2 * n / (s.from + math.Sqrt(s.from*s.from+2*slope*n)) // avoids the difference of close numbers
}
