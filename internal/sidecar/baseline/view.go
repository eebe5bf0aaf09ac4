package baseline

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Views are the comparisons of each kind of turn and signal with its baseline, by index of
// probe.TurnKinds and of sink.Signals.
type Views [kinds][signals]View

// Reading is the state of one job's baselines at one time.
type Reading struct {
	Views Views
	// Excess is by how many seconds each part of a turn exceeds its baseline, by index of
	// probe.TurnKinds and of Parts.
	Excess [kinds]probe.Opt[[PartCount]float64]
	// CachedBaseline is the usual share of cached prompt tokens, by index of
	// probe.TurnKinds.
	CachedBaseline [kinds]probe.Opt[float64]
	// Failures is the number of consecutive failed turns, Failing the time since the second of them.
	Failures int
	Failing  time.Duration
}

// Read returns the current reading of a job, and false for an unknown job.
func (t *Tracker) Read(key probe.Key) (r Reading, ok bool) {
	j := t.lock(key)
	if j == nil {
		return Reading{}, false
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	r.Views, r.Failures, r.Failing = j.views(now), j.failures.count, j.failures.lasts(now)
	at := j.wall(now)
	for k := range kinds {
		r.Excess[k], r.CachedBaseline[k] = j.parts[k].excess(), j.cached[k].usual(at)
	}
	return r, true
}

// inScores is how long a turn counts in the scores. They are 0 while they contain planned downtime.
const inScores = 5 * time.Minute

func (j *job) views(now time.Time) (v Views) {
	at := j.wall(now)
	j.pass(at)
	planned := j.planned(at) || j.planned(at.Add(-inScores))
	for k := range v {
		for i := range v[k] {
			if v[k][i] = j.series[k][i].view(at); planned {
				v[k][i].Page, v[k][i].Ticket, v[k][i].Since = 0, 0, time.Time{}
			}
		}
	}
	return v
}

// Sign returns the first signs of a fault, on which the scheduler probes more often. A run of
// failures that ended in a refusal for load is no sign: a burst would add to the load.
func (t *Tracker) Sign(key probe.Key) workload.Sign {
	j := t.lock(key)
	if j == nil {
		return workload.Sign{}
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	sign := workload.Sign{Score: j.score(now)}
	if j.failures.lastFailed {
		sign.Failed = j.failures.count
	}
	sign.Known = j.failures.refused || j.failures.count >= workload.MaxNewFailures || j.paging()
	return sign
}

// failureRun counts consecutive failed turns.
type failureRun struct {
	count      int
	lastFailed bool
	// refused is true if the last turn was refused for load.
	refused bool
	// second is when the second of them failed, last when the last of them ended.
	second, last time.Time
}

// add counts a turn. A refusal for load and a turn that the prober itself ended say
// neither that the deployment is up nor that it is down, so they do not reset the count.
func (f *failureRun) add(r *probe.Result) {
	switch o := r.Outcome; {
	case o.Own():
	case o.Busy():
		f.lastFailed, f.refused = false, true
	case o.Failed() && !o.WrongAnswer():
		f.count++
		if at := failedAt(r); f.count == 2 {
			f.second = at
		} else if f.refused { // the time of the refusals does not count
			f.second = f.second.Add(max(0, at.Sub(f.last)))
		}
		f.lastFailed, f.refused, f.last = true, false, r.End
	default:
		*f = failureRun{}
	}
}

// failedAt returns from when on a turn failed. One without a first token waited in vain from its start.
func failedAt(r *probe.Result) time.Time {
	if r.Outcome == probe.TimeoutFirstToken {
		return r.Sent
	}
	return r.End
}

// lasts returns the time since the second failed turn, 0 without one. It does not grow while turns are refused for
// load: a few failures before do not become an outage.
func (f *failureRun) lasts(now time.Time) time.Duration {
	if f.count < 2 {
		return 0
	}
	if f.refused {
		now = f.last
	}
	return max(0, now.Sub(f.second))
}

// View holds the exported values of a signal.
type View struct {
	Moments
	// Baseline is the current baseline in seconds. Young is true with less than a day of data:
	// only large steps page then. OnlySteps is true until levels page, too, after a week.
	Baseline         probe.Opt[float64]
	Young, OnlySteps bool
	// Samples is the number of turns in the baseline. Noise is the standard deviation of the
	// logarithm of its 30-minute level, unknown while young.
	Samples float64
	Noise   probe.Opt[float64]
	// Page and Ticket are scores: a page or ticket is up from 1 on.
	Page, Ticket float64
	// Ratio compares the last five minutes with the baseline. Since is the start of the
	// regression that pages or has a ticket, zero without one.
	Ratio probe.Opt[float64]
	Since time.Time
	Promise
	// History is the period that the promise is computed from.
	History time.Duration
	// Moved is when a lasting level last became the baseline; zero for never.
	Moved time.Time
	// UsualTail is the value above which a turn counts as slow at the baseline level.
	UsualTail probe.Opt[float64]
	// Line says how the baseline grows with the size of a turn, unknown while the sizes are alike.
	Line probe.Opt[Line]
}

// Line is the baseline of a signal as seconds = Base + PerToken × tokens, for turns of a size in tokens.
type Line struct{ Base, PerToken float64 }

// Promise describes what the current limits detect and cost. Detectable holds the smallest
// ratios that page within 15 minutes and within an hour in half of the cases, +Inf if none does. Expected is the expected number of false pages in 30 days.
type Promise struct {
	Detectable [2]probe.Opt[float64]
	Expected   probe.Opt[float64]
}

// promised computes the promise of the current limits.
func (s *series) promised() Promise {
	p := Promise{Expected: probe.Some(s.pages.expected(&s.past) + s.hadFalsePages())}
	held := hold(s.policy).Minutes()
	for i, minutes := range []float64{15, 60} {
		p.Detectable[i] = probe.Some(s.pages.detectable(held, minutes))
	}
	return p
}

// hadFalsePages returns the rate in 30 days of the pages of the last 30 days that violated no
// objective. The limits follow from the past without its faults, so they do not know these.
func (s *series) hadFalsePages() float64 {
	const week = levelPages * BlockLength
	const all = 30 * 24 * time.Hour
	paging := s.history.length() - week // levels do not page in the first week
	span := min(all, max(paging, week))
	return s.calendar.unconfirmed(s.minute-int64(span/time.Minute), s.minute) * float64(all) / float64(span)
}

func (s *series) view(at time.Time) View {
	v := View{
		Moments: s.moments, Young: s.young(), OnlySteps: !s.covers(levelPages), Page: s.page.value(), Ticket: s.ticket.value(), History: s.history.length(),
	}
	if mean := s.scan.mean(5); !math.IsNaN(mean) {
		v.Ratio = probe.Some(math.Exp(mean))
	}
	if s.regressed() && s.onset.Since > 0 {
		v.Since = time.Unix(cmp.Or(s.onset.Began, s.onset.Since)*60, 0).UTC()
	}
	ln, ok := s.reference(at)
	if ok {
		tail := ln + s.tailLimit(at)
		v.Baseline, v.UsualTail = probe.Some(math.Exp(ln)), probe.Some(math.Exp(tail))
	}
	if ok && s.size.known() {
		v.Line = probe.Some(s.size.at(ln))
	}
	if ok && s.past.known && s.limited != 0 {
		v.Promise = s.promise
	}
	if b := s.baseline; b != nil {
		v.Samples, v.Moved = float64(b.samples), b.moved
		if b.mature() {
			v.Noise = probe.Some(b.noise)
		}
	}
	return v
}
