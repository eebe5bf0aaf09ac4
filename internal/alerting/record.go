package alerting

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// record is one alert from when it first fires until every Alertmanager knows
// that it is over. Its times are of the pager's clock.
type record struct {
	labels, annotations labels.Labels
	value               float64
	startsAt            time.Time
	// endsAt is zero while the alert fires.
	endsAt time.Time
	// keptSince is since when it fires only because of keep_firing_for; zero
	// while its expression holds.
	keptSince time.Time
	// validUntil is when a firing alert is over unless its rule says otherwise
	// before: its rule is gone, or cannot be evaluated.
	validUntil time.Time
	// delivered is what each Alertmanager knows, by its URL.
	delivered map[string]delivery
}

// delivery is what one Alertmanager was told of an alert.
type delivery struct {
	// at is when it was told last.
	at time.Time
	// firingAt is as of when it was first told that the alert fires, in the last
	// spell that it was told of; zero is never.
	firingAt time.Time
	// over says that it was told last that the alert is over.
	over bool
	// ahead is how far the wall clock was ahead of the pager's then. It is not
	// kept over a restart: a reminder too many harms nobody.
	ahead time.Duration
}

func (r *record) firing() bool { return r.endsAt.IsZero() }

// knownBy reports whether the Alertmanager of d was told of this spell of the
// alert.
func (r *record) knownBy(d delivery) bool {
	return !d.firingAt.IsZero() && !d.firingAt.Before(r.startsAt)
}

// refresh takes over what a rule says of a firing alert. An alert that goes on
// keeps its beginning, also over a restart.
func (r *record) refresh(a *rules.Alert) {
	if !r.firing() {
		r.endsAt, r.startsAt = time.Time{}, a.FiredAt
	}
	if a.FiredAt.Before(r.startsAt) {
		r.startsAt = a.FiredAt
	}
	r.annotations, r.value = a.Annotations, a.Value
	r.keptSince, r.validUntil = a.KeepFiringSince, a.ValidUntil
}

const (
	// resend is how often an Alertmanager is reminded of an alert that fires.
	resend = time.Minute
	// validFor is how long an Alertmanager may believe in an alert that it is
	// not reminded of: three lost reminders.
	validFor = 4 * resend
	// repeatEnd is how long it is reminded that an alert is over, in case it
	// restarts before it has told anybody.
	repeatEnd = 15 * time.Minute
	// hold is how long an alert that came and went while an Alertmanager was
	// away is shown to it as firing. It must outlast the usual group_interval of
	// 5m, or nobody is told.
	hold = 6 * time.Minute
	// missedWithin is how long ago such an alert may have ended to be still worth
	// a page.
	missedWithin = time.Hour
)

// step is what an Alertmanager is told next of an alert.
type step int

const (
	nothing step = iota
	tellFiring
	tellOver
)

// next decides what the Alertmanager of d is told now, with the wall clock so
// far ahead. urgent is false for reminders, which are due at once after a step
// of the wall clock: an Alertmanager whose clock was set forward with it takes
// an alert for over that it was told of before.
func (r *record) next(d delivery, now time.Time, ahead time.Duration) (s step, urgent bool) {
	remind := now.Sub(d.at) >= resend || (ahead-d.ahead).Abs() >= tolerated
	switch {
	case r.firing():
		return sayIf(tellFiring, !r.knownBy(d) || d.over, remind)
	case !r.knownBy(d):
		if now.Sub(r.endsAt) > missedWithin {
			return nothing, false
		}
		return tellFiring, true
	case d.firingAt.After(r.endsAt) && now.Sub(d.firingAt) < hold:
		return sayIf(tellFiring, false, remind)
	case !d.over:
		return tellOver, true
	case now.Sub(r.endsAt) < repeatEnd:
		return sayIf(tellOver, false, remind)
	}
	return nothing, false
}

func sayIf(s step, urgent, remind bool) (step, bool) {
	if !urgent && !remind {
		return nothing, false
	}
	return s, urgent
}

// done reports whether no Alertmanager of urls needs to hear of the alert ever
// again.
func (r *record) done(urls []string, now time.Time) bool {
	if r.firing() || now.Sub(r.endsAt) < repeatEnd {
		return false
	}
	for _, url := range urls {
		d := r.delivered[url]
		if known := r.knownBy(d); known && !d.over || !known && now.Sub(r.endsAt) <= missedWithin {
			return false
		}
	}
	return true
}

// tell notes that an Alertmanager was told s, as of a time, with the wall clock
// so far ahead.
func (r *record) tell(url string, s step, asOf time.Time, ahead time.Duration) {
	d := r.delivered[url]
	d.at, d.over, d.ahead = asOf, s == tellOver, ahead
	if s == tellFiring && !r.knownBy(d) {
		d.firingAt = asOf
	}
	r.delivered[url] = d
}
