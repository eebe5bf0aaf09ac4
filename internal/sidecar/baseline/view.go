package baseline

import (
	"math"
	"time"
)

// View is what there is to export of a series.
type View struct {
	Moments
	// Baseline is what a turn is compared with now, in seconds; NaN when there
	// is nothing. Young says that it stands on less than a day: only large steps
	// page.
	Baseline float64
	Young    bool
	// Samples is how many turns the baseline stands on; Noise the standard
	// deviation of the logarithm of its 30-minute level, NaN while young.
	Samples float64
	Noise   float64
	// Page and Ticket say how near the signal is to either: from 1 on it is one.
	Page, Ticket float64
	// Ratio is how the last five minutes compare with the usual; NaN where that
	// is not known. Since is when the regression began that pages or is a ticket;
	// zero while there is none.
	Ratio float64
	Since time.Time
	// Detectable are the least ratios that page within a quarter of an hour and
	// within an hour, +Inf where none does; Delay is after how long a rise of each of
	// Sizes pages, Never if it does not, 0 while that is not known; both in half of
	// the cases. Expected is how many pages for nothing
	// a month of 30 days brings at these limits, NaN while that is not known; History
	// how long a time both stand on.
	Detectable [2]float64
	Delay      [3]time.Duration
	Expected   float64
	History    time.Duration
	// Moved is when a lasting level was last taken for the usual; zero for never.
	Moved time.Time
	// TailSeconds: a turn beyond so many seconds is in the tail; UsualTail is where
	// that begins as long as the level is the usual one. NaN if unknown.
	TailSeconds, UsualTail float64
}

// promise is what the limits in force see, and what they cost.
type promise struct {
	detectable [2]float64
	delay      [3]time.Duration
	expected   float64
}

// withins are the times of View.Detectable, in minutes.
func withins() [2]float64 { return [2]float64{15, 60} }

// promised follows from the limits.
func (s *series) promised() promise {
	p := promise{expected: s.pages.expected(&s.past)}
	for i, minutes := range withins() {
		p.detectable[i] = s.pages.detectable(s.policy, minutes)
	}
	for i, size := range Sizes() {
		p.delay[i] = Never
		if minutes := s.pages.delay(math.Log(size), s.policy); !math.IsInf(minutes, 1) {
			p.delay[i] = time.Duration(minutes * float64(time.Minute))
		}
	}
	return p
}

// Never is a delay of what does not page.
const Never time.Duration = math.MaxInt64

// Sizes are the ratios to the usual that View.Delay is of.
func Sizes() [3]float64 { return [3]float64{1.5, 2, 3} }

// Unusual reports whether a value of a signal of a kind of turn, by index, is in
// the tail or, while that is a page or a ticket, well above what is usual.
func (j *Job) Unusual(kind, signal int, value time.Duration, now time.Time) bool {
	s := &j.series[kind][signal]
	at := j.wall(now)
	reference, ok := s.reference(at)
	x := logSeconds(value) - reference
	return ok && (x >= max(0, s.level())+s.tailLimit(at) || s.regressed() && x >= wellAbove)
}

// wellAbove is the log ratio to the usual from which on a turn is part of a
// regression: 1.3 times.
const wellAbove = 0.26

func (s *series) view(at time.Time) View {
	v := View{
		Moments: s.moments, Young: s.young(), Page: s.page.value(), Ticket: s.ticket.value(),
		Baseline: math.NaN(), TailSeconds: math.NaN(), UsualTail: math.NaN(), Noise: math.NaN(), Expected: math.NaN(),
		Detectable: [2]float64{math.NaN(), math.NaN()},
		Ratio:      math.Exp(s.scan.mean(5)), History: s.history.length(),
	}
	if s.regressed() && s.onset.Since > 0 {
		v.Since = time.Unix(s.onset.Since*60, 0).UTC()
	}
	ln, ok := s.reference(at)
	if ok {
		v.Baseline = math.Exp(ln)
		v.UsualTail = math.Exp(ln + s.tailLimit(at))
		v.TailSeconds = v.UsualTail * math.Exp(max(0, s.level()))
	}
	if ok && s.past.known && s.limited != 0 {
		v.Detectable, v.Delay, v.Expected = s.promise.detectable, s.promise.delay, s.promise.expected
	}
	s.viewBaseline(&v)
	return v
}

func (s *series) viewBaseline(v *View) {
	if b := s.baseline; b != nil {
		v.Samples, v.Moved = float64(b.samples), b.moved
		if b.mature() {
			v.Noise = b.noise
		}
	}
	if s.benchmark.Typical > 0 {
		v.Samples = float64(s.benchmark.Samples)
	}
	if s.benchmark.Noise > 0 {
		v.Noise = s.benchmark.Noise
	}
}
