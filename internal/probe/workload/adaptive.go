package workload

import (
	"time"
)

// Sign is the current state of a job.
type Sign struct {
	// Score says how close the nearest alert is, for signals without an alert: 1 means that it
	// fires.
	Score  float64
	Failed int // consecutive failed turns
	// Overdue is true while a turn is in flight for much longer than the job's turns take, see Ages.
	Overdue bool
	// Known is true if a burst would show nothing new, or do harm: a signal pages, MaxNewFailures turns have failed, or the
	// last turn was refused for load.
	Known bool
}

// A burst lasts longBurst at most, begins coolDown or more after the end of the previous one, and
// is one of burstsPerHour at most. docs/background/alert-quality.md shows what these numbers cost and
// how much sooner alerts fire.
const (
	longBurst     = 2 * time.Minute
	coolDown      = 3 * time.Minute
	burstsPerHour = 4
)

const (
	// signScore is the score that starts a burst. A third of the way to an alert happens too
	// often without a fault, and would use up the bursts before there is one.
	signScore = 0.5
	// From MaxNewFailures consecutive failures on, the fault is known and needs no burst.
	MaxNewFailures = 10
	// minBurst is the minimum length of a burst, because the score is computed per minute.
	minBurst = time.Minute
)

// BurstReasons returns the reasons for a burst.
func BurstReasons() []string { return []string{"failed", "overdue", "slower"} }

// reason returns the reason for a burst, or "".
func (s Sign) reason() string {
	switch {
	case s.Failed > 0 && s.Failed < MaxNewFailures:
		return "failed"
	case s.Overdue && !s.Known:
		return "overdue"
	case s.Score >= signScore:
		return "slower"
	}
	return ""
}

// Pace thins out the starts of a process that runs at the burst rate. During a burst all of them take
// place, otherwise as many as the base rate needs. It is not safe for concurrent use.
type Pace struct {
	baseRate float64
	// BurstRate is the rate of a burst in conversations per second.
	BurstRate float64
	// credit is the due fraction of the next start at the base rate.
	credit float64
	// burstEnd is zero outside a burst. burstStarts are the bursts of the last hour; for a
	// finished one it is the end.
	burstEnd    time.Time
	burstStarts []time.Time
}

// NewPace returns nil if the traffic has no bursts.
func NewPace(t Traffic) *Pace {
	if t.Process == Closed || t.BurstRate <= t.Rate {
		return nil
	}
	return &Pace{baseRate: t.Rate, BurstRate: t.BurstRate, credit: 1} // the first start takes place
}

// Start is the decision on one start of the process.
type Start struct {
	// Due says that the start takes place. Burst says that the base rate alone would have skipped it;
	// statistics over time must not count its turns.
	Due, Burst bool
	// Changed says that the rate changes now. Reason is the reason for a new burst, or "" at its end.
	Changed bool
	Reason  string
}

// Decide decides on the starts, which must come in the order of their times.
func (p *Pace) Decide(at time.Time, seen Sign) Start {
	var start Start
	reason := seen.reason()
	switch {
	case p.bursting():
		since := at.Sub(p.burstStarts[len(p.burstStarts)-1])
		if !at.Before(p.burstEnd) || reason == "" && since >= minBurst {
			p.burstEnd, start.Changed = time.Time{}, true
			p.burstStarts[len(p.burstStarts)-1] = at // from now on this is the end of the last burst
		}
	case reason != "" && p.mayBurst(at):
		p.burstStarts, p.burstEnd = append(p.burstStarts, at), at.Add(longBurst)
		start.Changed, start.Reason = true, reason
	}
	if p.credit += p.baseRate / p.BurstRate; p.credit >= 1 {
		p.credit--
		start.Due = true
		return start
	}
	start.Due, start.Burst = p.bursting(), p.bursting()
	return start
}

func (p *Pace) bursting() bool { return !p.burstEnd.IsZero() }

// Rate returns the current rate in conversations per second.
func (p *Pace) Rate() float64 {
	if p.bursting() {
		return p.BurstRate
	}
	return p.baseRate
}

func (p *Pace) mayBurst(at time.Time) bool {
	for len(p.burstStarts) > 0 && at.Sub(p.burstStarts[0]) >= time.Hour {
		p.burstStarts = p.burstStarts[1:]
	}
	n := len(p.burstStarts)
	return n < burstsPerHour && (n == 0 || at.Sub(p.burstStarts[n-1]) >= coolDown)
}
