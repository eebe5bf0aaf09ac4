package regression

import (
	"math"
	"time"
)

const (
	// SlowFloor is the smallest ratio to the baseline that is a slow regression,
	// slowFloor its logarithm. SlowNoise is how many standard deviations of the
	// level, on the log scale, the mean of 30 minutes is above the baseline then.
	SlowFloor, slowFloor = 1.2, 0.1823
	SlowNoise            = 3.9
	// learnNoise is how many times the level's noise a half hour may lie above
	// a full baseline to enter it.
	learnNoise = 2
	// tailFloor and tailSpread define the tail: a turn beyond tailSpread
	// standard deviations of single turns, at least e^tailFloor (2.5) times.
	tailFloor, tailSpread = 0.916, 2.5
	// youngSpread and youngNoise stand in for those of a baseline that has none.
	youngSpread, youngNoise = 0.5, 0.1
)

// series is one signal of one kind of turn.
type series struct {
	moments  Moments
	cusum    cusum
	step     step
	baseline *baseline
	// last is when the turn before came, in monotonic time.
	last time.Time
	// Configured.
	threshold time.Duration
	benchmark Benchmark
}

// observe takes a value (in seconds, its natural logarithm) at a time.
func (s *series) observe(ln float64, failed, changing bool, now, at time.Time) {
	if s.baseline == nil {
		s.baseline = newBaseline()
	}
	s.baseline.roll(at, s.mayLearn)
	reference, ok := s.reference(at)
	x := 0.0
	if ok {
		x = ln - reference
	} else {
		reference = ln
	}
	s.moments.add(ln, reference, x > s.tail() && !s.young())
	s.accumulate(x, ok, now)
	b := &s.baseline.block
	if failed {
		b.failed++
	} else {
		b.add(ln)
	}
	b.unsuitable = b.unsuitable || changing || s.regressed()
}

// regressed says that one of the sums is at its limit.
func (s *series) regressed() bool {
	return s.cusum.sum >= s.bounds().limit || s.step.Up
}

// accumulate adds a turn to the CUSUM and, where there is a baseline to compare
// with, to that of steps. A sum that a reload left without what it compared with
// is over: it would stay where it was, and keep the half hours from being
// learned that could end it.
func (s *series) accumulate(x float64, known bool, now time.Time) {
	minutes := math.NaN() // the first turn comes after nothing
	if !s.last.IsZero() {
		minutes = now.Sub(s.last).Minutes()
	}
	s.last = now
	if known {
		s.cusum.add(x, minutes, s.bounds())
	} else {
		s.cusum.elapse(minutes)
		s.cusum.sum = 0
	}
	if s.young() {
		s.step = step{}
	} else {
		s.step.add(x, minutes, s.stepBounds())
	}
}

// mayLearn refuses blocks that are higher than noise usually makes them: once
// the baseline is full, far below what alerts, for a regression too small for
// that, or one that comes back every day, would raise the baseline and hide
// itself. Before, only what alerts: the hours of a season that is not known yet
// look like noise.
func (s *series) mayLearn(b *block) bool {
	excess := b.mean - s.baseline.at(b.start)
	switch {
	case !s.baseline.mature():
		return true
	case s.baseline.full():
		return excess <= learnNoise*s.baseline.noise
	}
	return excess <= max(slowFloor, SlowNoise*s.baseline.noise)
}

// reference is the logarithm of what a turn is compared with: a benchmark, the
// learned baseline or, while that is young, the absolute objective.
func (s *series) reference(at time.Time) (ln float64, ok bool) {
	switch {
	case s.benchmark.Typical > 0:
		return logSeconds(s.benchmark.Typical), true
	case s.baseline.mature():
		return s.baseline.at(at), true
	case s.threshold > 0:
		return logSeconds(s.threshold), true
	}
	return 0, false
}

// young says that there is no baseline yet.
func (s *series) young() bool {
	return s.benchmark.Typical == 0 && !s.baseline.mature()
}

func (s *series) spread() float64 {
	if !s.baseline.mature() {
		return youngSpread
	}
	return s.baseline.spread
}

func (s *series) noise() float64 {
	switch {
	case s.benchmark.Noise > 0:
		return s.benchmark.Noise
	case !s.baseline.mature():
		return youngNoise
	}
	return s.baseline.noise
}

func (s *series) bounds() bounds { return s.cusum.bounds(s.spread(), s.noise()) }

func (s *series) stepBounds() bounds { return s.step.bounds(s.spread(), s.noise()) }

// tail is the log ratio beyond which a turn is in the tail.
func (s *series) tail() float64 { return max(tailFloor, tailSpread*s.spread()) }

// View is what there is to export of a series.
type View struct {
	Moments
	// Baseline is what a turn is compared with now, in seconds; NaN when there
	// is nothing. Young says that it is an absolute objective, for want of
	// history.
	Baseline float64
	Young    bool
	// Samples is how many turns the baseline stands on; Noise the standard
	// deviation of the logarithm of its 30-minute level, NaN while young.
	Samples float64
	Noise   float64
	// Cusum is in log·minutes; from Limit on the signal has regressed.
	Cusum, Limit float64
	// Step is the sum of the rise above the recent level, in its limits: from 1
	// on there was a step.
	Step float64
	// Allowance is the log ratio that the CUSUM lets pass.
	Allowance float64
	// Page and Ticket say how near the signal is to either: from 1 on it is one.
	Page, Ticket float64
	// Ratio is how the last five minutes compare with the usual; NaN where that
	// is not known. Since is when the regression began that pages or is a ticket;
	// zero while there is none.
	Ratio float64
	Since time.Time
	// Detectable are the least ratios that page within a quarter of an hour and
	// within an hour, +Inf where none does; Expected is how many pages for nothing
	// a month of 30 days brings at these limits, NaN while that is not known; History
	// how long a time both stand on.
	Detectable [2]float64
	Expected   float64
	History    time.Duration
	// Moved is when a lasting level was last taken for the usual; zero for never.
	Moved time.Time
	// Tail limit: a turn beyond so many seconds is in the tail; NaN if unknown.
	TailSeconds float64
}

func (s *series) view(at time.Time) View {
	v := View{
		Moments: s.moments, Baseline: math.NaN(), TailSeconds: math.NaN(), Noise: math.NaN(),
		Young: s.young(), Cusum: s.cusum.sum,
	}
	bounds := s.bounds()
	v.Limit, v.Allowance = bounds.limit, bounds.allowance
	v.Step = s.step.ratio(s.stepBounds())
	if ln, ok := s.reference(at); ok {
		v.Baseline = math.Exp(ln)
		if !v.Young {
			v.TailSeconds = math.Exp(ln + s.tail())
		}
	}
	if s.baseline != nil {
		v.Samples = float64(s.baseline.samples)
	}
	if s.benchmark.Typical > 0 {
		v.Samples = float64(s.benchmark.Samples)
	}
	if !v.Young {
		v.Noise = s.noise()
	}
	return v
}
