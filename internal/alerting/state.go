package alerting

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// alertState is an alert from its start until every Alertmanager knows its end. Its times are
// those of the pager's clock; in the file they are wall times.
type alertState struct {
	Labels      labels.Labels `json:"labels"`
	Annotations labels.Labels `json:"annotations"`
	StartsAt    time.Time     `json:"starts_at"`
	// EndsAt is zero while the alert fires.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// KeptSince is since when it fires only because of keep_firing_for; zero while its
	// expression holds.
	KeptSince time.Time `json:"kept_since,omitzero"`
	// Delivered says what each Alertmanager knows, by its URL.
	Delivered map[string]delivery `json:"delivered"`

	value float64
	// validUntil is when a firing alert ends if its rule does not report it any more, because
	// it was removed or cannot be evaluated.
	validUntil time.Time
}

// delivery records what one Alertmanager knows about an alert.
type delivery struct {
	// At is the time of the last notification.
	At time.Time `json:"at"`
	// FiringAt is when the current firing period was first reported; zero for never.
	FiringAt time.Time `json:"firing_at,omitzero"`
	// Over is true if the last notification reported the end.
	Over bool `json:"over"`
	// ahead is how far the wall clock was ahead of the pager's then. It is not saved: an
	// additional reminder does no harm.
	ahead time.Duration
}

// shifted returns a copy with all times moved to another clock.
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

// knownBy reports whether the Alertmanager of d knows about this firing period.
func (r *alertState) knownBy(d delivery) bool {
	return !d.FiringAt.IsZero() && !d.FiringAt.Before(r.StartsAt)
}

// refresh updates a firing alert from its rule. A continuing alert keeps its start, also across
// a restart.
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
	// resend is the interval of reminders to an Alertmanager about a firing alert.
	resend = time.Minute
	// validFor is how long an Alertmanager keeps an alert without a reminder: three lost
	// reminders.
	validFor = 4 * resend
	// repeatEnd is how long the end of an alert is repeated, in case the Alertmanager restarts
	// before it has notified anybody.
	repeatEnd = 15 * time.Minute
	// missedHold is how long an alert that started and ended while an Alertmanager was away is
	// reported as firing. It must exceed the usual group_interval of 5m, or nobody is notified.
	missedHold = 6 * time.Minute
	// missedWithin is the largest age of such an alert that is still reported.
	missedWithin = time.Hour
)

// news is the kind of the next notification.
type news int

const (
	nothing news = iota
	sendFiring
	sendOver
)

// next returns what to send to the Alertmanager of d now, with the wall clock ahead by the
// given time. urgent is false for reminders. They are due at once after a step of the wall
// clock, because an Alertmanager with the same step would consider the alert ended.
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
	remind := now.Sub(d.At) >= resend || (ahead-d.ahead).Abs() >= tolerance
	if !urgent && !remind {
		return nothing, false
	}
	return n, urgent
}

// done reports whether no Alertmanager needs further notifications.
func (r *alertState) done(alertmanagers []*client, now time.Time) bool {
	if r.firing() || now.Sub(r.EndsAt) < repeatEnd {
		return false
	}
	for _, c := range alertmanagers {
		d := r.Delivered[c.url]
		if known := r.knownBy(d); known && !d.Over || !known && now.Sub(r.EndsAt) <= missedWithin {
			return false
		}
	}
	return true
}

// markDelivered records that an Alertmanager received n as of a time.
func (r *alertState) markDelivered(url string, n news, asOf time.Time, ahead time.Duration) {
	d := r.Delivered[url]
	d.At, d.Over, d.ahead = asOf, n == sendOver, ahead
	if n == sendFiring && !r.knownBy(d) {
		d.FiringAt = asOf
	}
	r.Delivered[url] = d
}
