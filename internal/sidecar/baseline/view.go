package baseline

import (
	"math"
	"time"
)

// View holds the exported values of a signal.
type View struct {
	Moments
	// Baseline is the current baseline in seconds, NaN without one. Young is true with less
	// than a day of data: only large steps page then.
	Baseline float64
	Young    bool
	// Samples is the number of turns in the baseline. Noise is the standard deviation of the
	// logarithm of its 30-minute level, NaN while young.
	Samples float64
	Noise   float64
	// Page and Ticket are scores: a page or ticket is up from 1 on.
	Page, Ticket float64
	// Ratio compares the last five minutes with the baseline, NaN if unknown. Since is the
	// start of the regression that pages or has a ticket, zero without one.
	Ratio float64
	Since time.Time
	// Detectable holds the smallest ratios that page within 15 minutes and within an hour, +Inf
	// if none does. Delay is the time after which a rise of each of Sizes pages: Never, or 0 if
	// unknown. Both hold in half of the cases. Expected is the expected number of false pages
	// in 30 days at these limits, NaN if unknown. History is the period that they are computed
	// from.
	Detectable [2]float64
	Delay      [3]time.Duration
	Expected   float64
	History    time.Duration
	// Moved is when a lasting level last became the baseline; zero for never.
	Moved time.Time
	// TailSeconds is the value above which a turn counts as slow now, UsualTail the value at
	// the baseline level. NaN if unknown.
	TailSeconds, UsualTail float64
}

// promise describes what the current limits detect and cost.
type promise struct {
	detectable [2]float64
	delay      [3]time.Duration
	expected   float64
}

// withins returns the times of View.Detectable, in minutes.
func withins() [2]float64 { return [2]float64{15, 60} }

// promised computes the promise of the current limits.
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

// Never is the delay of a rise that does not page.
const Never time.Duration = math.MaxInt64

// Sizes returns the ratios of View.Delay.
func Sizes() [3]float64 { return [3]float64{1.5, 2, 3} }

// Unusual reports whether a value is slow, or well above the baseline while a page or ticket is
// up.
func (j *Job) Unusual(kind, signal int, value time.Duration, now time.Time) bool {
	s := &j.series[kind][signal]
	at := j.wall(now)
	reference, ok := s.reference(at)
	x := logSeconds(value) - reference
	return ok && (x >= max(0, s.level())+s.tailLimit(at) || s.regressed() && x >= wellAbove)
}

// wellAbove is the log ratio from which a turn belongs to a regression: 1.3 times the baseline.
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
