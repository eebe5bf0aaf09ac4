package alerting

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// alertState is one alert from when it first fires until every Alertmanager
// knows that it is over. Its times are of the pager's clock; in the file of
// states they are of the wall clock.
type alertState struct {
	Labels      labels.Labels `json:"labels"`
	Annotations labels.Labels `json:"annotations"`
	StartsAt    time.Time     `json:"starts_at"`
	// EndsAt is zero while the alert fires.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// KeptSince is since when it fires only because of keep_firing_for; zero
	// while its expression holds.
	KeptSince time.Time `json:"kept_since,omitzero"`
	// Delivered is what each Alertmanager knows, by its URL.
	Delivered map[string]delivery `json:"delivered"`

	value float64
	// validUntil is when a firing alert is over unless its rule says otherwise
	// before: its rule was removed, or cannot be evaluated.
	validUntil time.Time
}

// delivery is what one Alertmanager was told of an alert.
type delivery struct {
	// At is when it was told last.
	At time.Time `json:"at"`
	// FiringAt is as of when it was first told that the alert fires, in the last
	// spell that it was told of; zero is never.
	FiringAt time.Time `json:"firing_at,omitzero"`
	// Over says that it was told last that the alert is over.
	Over bool `json:"over"`
	// ahead is how far the wall clock was ahead of the pager's then. It is not
	// kept over a restart: a reminder too many harms nobody.
	ahead time.Duration
}

// shifted is a copy with every time moved: from one clock to another.
func (r *alertState) shifted(by time.Duration) *alertState {
	out := *r
	out.StartsAt, out.EndsAt, out.KeptSince = shift(r.StartsAt, by), shift(r.EndsAt, by), shift(r.KeptSince, by)
	out.Delivered = make(map[string]delivery, len(r.Delivered))
	for url, d := range r.Delivered {
		d.At, d.FiringAt = shift(d.At, by), shift(d.FiringAt, by)
		out.Delivered[url] = d
	}
	return &out
}

func (r *alertState) firing() bool { return r.EndsAt.IsZero() }

// knownBy reports whether the Alertmanager of d was told of this spell of the
// alert.
func (r *alertState) knownBy(d delivery) bool {
	return !d.FiringAt.IsZero() && !d.FiringAt.Before(r.StartsAt)
}

// refresh takes over what a rule says of a firing alert. An alert that goes on
// keeps its beginning, also over a restart.
func (r *alertState) refresh(a *rules.Alert) {
	if !r.firing() {
		r.EndsAt, r.StartsAt = time.Time{}, a.FiredAt
	}
	if a.FiredAt.Before(r.StartsAt) {
		r.StartsAt = a.FiredAt
	}
	r.Annotations, r.value = a.Annotations, a.Value
	r.KeptSince, r.validUntil = a.KeepFiringSince, a.ValidUntil
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
	// missedHold is how long an alert that came and went while an Alertmanager was
	// away is shown to it as firing. It must outlast the usual group_interval of
	// 5m, or nobody is told.
	missedHold = 6 * time.Minute
	// missedWithin is how long ago such an alert may have ended to be still worth
	// a page.
	missedWithin = time.Hour
)

// news is what an Alertmanager is told next of an alert.
type news int

const (
	nothing news = iota
	sendFiring
	sendOver
)

// next decides what the Alertmanager of d is told now, with the wall clock so
// far ahead. urgent is false for reminders, which are due at once after a step
// of the wall clock: an Alertmanager whose clock was set forward with it takes
// an alert for over that it was told of before.
func (r *alertState) next(d delivery, now time.Time, ahead time.Duration) (n news, urgent bool) {
	known := r.knownBy(d)
	switch {
	case r.firing():
		n, urgent = sendFiring, !known || d.Over
	case !known && now.Sub(r.EndsAt) <= missedWithin:
		n, urgent = sendFiring, true
	case !known:
	case d.FiringAt.After(r.EndsAt) && now.Sub(d.FiringAt) < missedHold:
		n = sendFiring
	case !d.Over:
		n, urgent = sendOver, true
	case now.Sub(r.EndsAt) < repeatEnd:
		n = sendOver
	}
	remind := now.Sub(d.At) >= resend || (ahead-d.ahead).Abs() >= tolerated
	if !urgent && !remind {
		return nothing, false
	}
	return n, urgent
}

// done reports whether no Alertmanager of urls needs to hear of the alert ever
// again.
func (r *alertState) done(urls []string, now time.Time) bool {
	if r.firing() || now.Sub(r.EndsAt) < repeatEnd {
		return false
	}
	for _, url := range urls {
		d := r.Delivered[url]
		if known := r.knownBy(d); known && !d.Over || !known && now.Sub(r.EndsAt) <= missedWithin {
			return false
		}
	}
	return true
}

// markDelivered notes that an Alertmanager was told n, as of a time, with the
// wall clock so far ahead.
func (r *alertState) markDelivered(url string, n news, asOf time.Time, ahead time.Duration) {
	d := r.Delivered[url]
	d.At, d.Over, d.ahead = asOf, n == sendOver, ahead
	if n == sendFiring && !r.knownBy(d) {
		d.FiringAt = asOf
	}
	r.Delivered[url] = d
}
