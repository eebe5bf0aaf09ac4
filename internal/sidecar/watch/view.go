package watch

import (
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/cause"
)

// Reading is the state of a job at one time. Arrays are by index of probe.TurnKinds, fleet.Signals and cause.Parts.
type Reading struct {
	Moments [kinds][signalCount]Moments
	// Usual is the usual value in seconds at this time of the week.
	Usual   [kinds][signalCount]probe.Opt[float64]
	Signals [signalCount]View
	// Excess is by how many seconds each part of a turn exceeds its usual time.
	Excess [kinds]probe.Opt[[cause.PartCount]float64]
	// UsualCached is the usual share of cached prompt tokens.
	UsualCached [kinds]probe.Opt[float64]
	// Failures is the number of consecutive failed turns, Failing the time since the second of them.
	Failures int
	Failing  time.Duration
}

// View is what is known of a signal.
type View struct {
	// Page and Ticket are scores: a page or ticket is up from 1 on.
	Page, Ticket float64
	// Ratio compares the last five minutes with what is usual.
	Ratio probe.Opt[float64]
	// Since is the start of the rise that pages or has a ticket; zero without one.
	Since time.Time
	// Detectable is the smallest ratio that pages within an hour; unknown without a day of half hours, or without recent turns.
	Detectable probe.Opt[float64]
	// Limit is the lowest ratio that pages, in the window with the lowest limit.
	Limit probe.Opt[float64]
	// Told is the ratio that was reported and is still up, 1 without one: only more is reported again.
	Told float64
	// Decision is why the signal pages or has a ticket, or why not yet.
	Decision Decision
	// Moved is when a lasting level last became the usual one; zero for never.
	Moved time.Time
	// HalfHours is the number of half hours that the usual level is known from.
	HalfHours int
	// Learning is true until a rise can page, OnlySteps in the first week.
	Learning, OnlySteps bool
	// Next is when the next kind of rise can page at the earliest; zero if all kinds can.
	Next time.Time
}

// Read returns the current reading of a job, and false for an unknown job.
func (t *Tracker) Read(key probe.Key) (r Reading, ok bool) {
	j := t.lock(key)
	if j == nil {
		return Reading{}, false
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	at := j.wall(now)
	j.pass(at)
	r.Moments, r.Failures, r.Failing = j.moments, j.failures.count, j.failures.lasts(now)
	for i, s := range j.signals {
		r.Signals[i] = s.view()
		for k := range kinds {
			if m, ok := s.Classes.of(k); ok && s.Usual.started() {
				r.Usual[k][i] = probe.Some(math.Exp(m + s.Usual.at(at)))
			}
		}
	}
	for k := range kinds {
		r.Excess[k], r.UsualCached[k] = j.parts[k].Excess(), j.parts[k].Cached()
	}
	return r, true
}

func (s *signal) view() View {
	v := View{
		Page: s.Page.Decision.Score, Ticket: s.Ticket.Decision.Score, Decision: s.Page.Decision, Told: math.Exp(s.Minutes.Told.Rise),
		Moved: s.Usual.Moved, HalfHours: s.Usual.learned, Learning: !s.Usual.started(), OnlySteps: !s.Usual.covers(week),
		Next: s.Usual.next(numberAt(s.minute)),
	}
	if mean := s.Minutes.toUsual(5); !math.IsNaN(mean) {
		v.Ratio = probe.Some(math.Exp(mean))
	}
	if s.regressed() {
		v.Since = timeOf(s.began())
	}
	if s.Limits.of != 0 && s.Usual.learned >= slots {
		v.Detectable = s.detectable()
	}
	if s.Limits.of != 0 && s.Usual.started() {
		v.Limit = probe.Some(math.Exp(s.Limits.least(ringMinutes, !v.OnlySteps) + s.Minutes.Told.Rise))
	}
	if s.Ticket.Up && !s.Page.Up {
		v.Decision = s.Ticket.Decision
	}
	return v
}

// detectable returns the smallest ratio that pages within an hour, unknown without turns in half an hour, as in an outage.
func (s *signal) detectable() (out probe.Opt[float64]) {
	turns, _ := s.Minutes.sum(0, halfHourMinutes)
	if turns == 0 {
		return out
	}
	return probe.Some(math.Exp(s.Limits.least(60, s.Usual.covers(week))*(turns+doubt)/turns + s.Minutes.Told.Rise))
}

// least returns the lowest limit of a page of the windows up to a length, those of steps alone if levels is false.
func (l *limits) least(minutes int, levels bool) float64 {
	least := math.Inf(1)
	for i, w := range windows() {
		if w.minutes <= minutes && (w.step || levels) {
			least = min(least, l.page[i].Value)
		}
	}
	return least
}

// Sign returns the first signs of a fault, on which the scheduler probes more often. A run of failures that ended in a
// refusal for load is no sign: a burst would add to the load.
func (t *Tracker) Sign(key probe.Key) workload.Sign {
	j := t.lock(key)
	if j == nil {
		return workload.Sign{}
	}
	defer j.mu.Unlock()
	j.pass(j.wall(t.options.Now()))
	sign := workload.Sign{Score: j.score()}
	if j.failures.lastFailed {
		sign.Failed = j.failures.count
	}
	sign.Known = j.failures.refused || j.failures.count >= workload.MaxNewFailures || j.paging()
	return sign
}

// Accepted describes a job whose current level became the usual one.
type Accepted struct {
	Key   probe.Key
	Since time.Time
	// Ratios compare the level with the one before, by index of fleet.Signals.
	Ratios [signalCount]probe.Opt[float64]
}

// Accept makes the level since a time the usual one of a target's jobs. An empty workload means all of them. A zero time
// means the start of each signal's regression, or the last 30 minutes for a signal without one. It returns the accepted jobs.
func (t *Tracker) Accept(target, workload string, since time.Time) (out []Accepted) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		if j.key.Target == target && (workload == "" || j.key.Workload == workload) {
			j.mu.Lock()
			out = append(out, j.accept(since, j.wall(now)))
			j.mu.Unlock()
		}
	}
	return out
}

func (j *job) accept(since, at time.Time) Accepted {
	j.pass(at)
	a := Accepted{Key: j.key, Since: since}
	rose := j.any((*signal).regressed)
	for i, s := range j.signals {
		from := since
		if from.IsZero() {
			from = s.reported(at)
		}
		if a.Since.IsZero() || from.Before(a.Since) {
			a.Since = from
		}
		a.Ratios[i] = s.view().Ratio
		if s.regressed() || !rose {
			s.accept(from, at)
		}
	}
	return a
}

// reported returns since when the level is up that pages or has a ticket; without one the last half hour. The last minutes
// of the deciding window are those of the level, and its rise may have begun by chance.
func (s *signal) reported(at time.Time) time.Time {
	switch {
	case s.Page.Up:
		return timeOf(s.Page.Decision.Minute - 2)
	case s.Ticket.Up:
		return timeOf(s.Ticket.Decision.Minute - 2)
	}
	return at.Add(-halfHour)
}

// Minute is the measurement of a signal in one minute.
type Minute struct {
	At time.Time
	// Turns is the number of values by kind of turn, Mean the mean of the natural logarithm of their seconds.
	Turns, Mean [kinds]float64
}

// Backfill gives a new job minutes of a signal that were measured earlier, in order of time. It does nothing for an unknown
// job, and is to come before the first turn.
func (t *Tracker) Backfill(key probe.Key, signal int, minutes []Minute) {
	j := t.lock(key)
	if j == nil {
		return
	}
	defer j.mu.Unlock()
	s := j.signals[signal]
	for _, m := range minutes {
		s.pass(m.At)
		for k := range kinds {
			for range int(math.Round(m.Turns[k])) {
				s.observe(turn{ln: m.Mean[k], kind: k, class: classOf(k, 0)}, m.At)
			}
		}
	}
}
