package sweep

import (
	"math"
	"strconv"
	"time"

	"synthetic/internal/study/runfile"
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
		out = append(out, segment{r.Over.Seconds() / float64(r.Steps), r.share(i), r.share(i)})
	}
	return append(out, segment{math.Inf(1), 1, 1})
}

// share of the level's rate that a step has, counted from 0.
func (r Ramp) share(step int) float64 {
	if r.Steps == 1 {
		return 1
	}
	return r.From + (1-r.From)*float64(step)/float64(r.Steps-1)
}

// levels are the rates of its steps, of which the last is the whole; that alone
// without steps.
func (r Ramp) levels(whole float64) (out []float64) {
	for i := range r.Steps {
		out = append(out, FourDigits(whole*r.share(i)))
	}
	if out == nil {
		return []float64{whole}
	}
	return out
}

// stepped are the steps of a ramp, each of which is a snapshot and a level of its
// own: so one pass has a whole curve. A level without steps stays what it is.
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
		if s.run.Shard != nil { // judged with those of the others alone
			step.Verdict = nil
		} else if r.Verdict != nil && !step.GaveUp() {
			step.Verdict = s.Plan.judge().Conclude(s.run, step)
		}
		out = append(out, step)
	}
	return out
}

// FourDigits are enough for a level, which is a name, too.
func FourDigits(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // which reads what it wrote
	return x
}

// bend puts starts of an even rate where they come on the ramp: as many have come as
// its rate adds up to. It takes them in order.
func (r Ramp) warp(before time.Duration) func(time.Duration) time.Duration {
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
