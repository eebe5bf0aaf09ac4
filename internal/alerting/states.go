package alerting

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// Transition is the start or end of an alert.
type Transition struct {
	Firing      bool
	Labels      map[string]string
	Annotations map[string]string
	Value       float64
	// At is the start of the alert.
	At time.Time
	// Lasted is the duration of the alert; zero while it fires.
	Lasted time.Duration
	// GoesOnAs names a firing alert about the same subject with at least the same urgency: this
	// alert ended, but not the incident. "" for none.
	GoesOnAs string
}

// alertStates holds every alert about which an Alertmanager may still need a notification.
type alertStates struct {
	clock    *clock
	external labels.Labels
	clients  []*client
	onChange func(Transition)

	mu       sync.Mutex
	byID     map[uint64]*alertState
	watchers []chan struct{}
}

func newAlertStates(c *clock, external labels.Labels, clients []*client, onChange func(Transition)) *alertStates {
	if onChange == nil {
		onChange = func(Transition) {}
	}
	return &alertStates{clock: c, external: external, clients: clients, onChange: onChange, byID: map[uint64]*alertState{}}
}

// watch returns a channel that receives a token after a change.
func (s *alertStates) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{}, 1)
	s.watchers = append(s.watchers, c)
	return c
}

// notify implements rules.NotifyFunc. It gets the alerts of one rule that fire or ended lately.
func (s *alertStates) notify(_ context.Context, _ string, alerts ...*rules.Alert) {
	s.update(func(time.Time) (changes []Transition) {
		for _, a := range alerts {
			if r, changed := s.record(a); changed {
				changes = append(changes, s.transition(r))
			}
		}
		return changes
	})
}

// expire ends the alerts that their rules no longer report, and drops those whose end every
// Alertmanager knows.
func (s *alertStates) expire() {
	s.update(func(now time.Time) (changes []Transition) {
		for id, r := range s.byID {
			if r.firing() && now.After(r.validUntil) {
				r.EndsAt = now
				changes = append(changes, s.transition(r))
			}
			if r.done(s.clients, now) {
				delete(s.byID, id)
			}
		}
		return changes
	})
}

// update changes states under the lock, and reports the changes after it.
func (s *alertStates) update(do func(now time.Time) []Transition) {
	s.mu.Lock()
	changes := do(s.clock.now())
	watchers := s.watchers
	s.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	for _, w := range watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	for _, c := range changes {
		s.onChange(c)
	}
}

// record updates one alert, and reports whether it started or ended.
func (s *alertStates) record(a *rules.Alert) (r *alertState, changed bool) {
	ls := s.identity(a.Labels)
	id := ls.Hash()
	r = s.byID[id]
	fired := r != nil && r.firing()
	if !a.ResolvedAt.IsZero() {
		if fired {
			r.EndsAt, r.Annotations = a.ResolvedAt, a.Annotations
		}
		return r, fired
	}
	if r == nil {
		r = &alertState{Labels: ls, StartsAt: a.FiredAt, Delivered: map[string]delivery{}}
		s.byID[id] = r
	}
	r.refresh(a)
	return r, !fired
}

// identity adds the external labels that the alert does not have.
func (s *alertStates) identity(ls labels.Labels) labels.Labels {
	b := labels.NewBuilder(ls)
	s.external.Range(func(e labels.Label) {
		if !ls.Has(e.Name) {
			b.Set(e.Name, e.Value)
		}
	})
	return b.Labels()
}

func (s *alertStates) transition(r *alertState) Transition {
	t := Transition{
		Firing: r.firing(), Labels: r.Labels.Map(), Annotations: r.Annotations.Map(),
		Value: r.value, At: s.clock.toWall(r.StartsAt),
	}
	if !t.Firing {
		t.Lasted, t.GoesOnAs = r.EndsAt.Sub(r.StartsAt), s.successor(r)
	}
	return t
}

// successor names the alert that continues the incident of r: about the same target and
// workload or about all, and the same objective. It must be a page, or anything if r is a
// ticket. The caller holds mu.
func (s *alertStates) successor(r *alertState) (name string) {
	for _, o := range s.byID {
		same := o.Labels.Get("target") == r.Labels.Get("target") && o.Labels.Get("workload") == r.Labels.Get("workload")
		urgent := o.Labels.Get("severity") == "page" || r.Labels.Get("severity") != "page"
		if r.Labels.Get("target") == "" || !o.firing() || !urgent || !same && o.Labels.Get("scope") != "fleet" {
			continue
		}
		// The first name in alphabetical order makes the choice among several reproducible.
		if other := strings.TrimSpace(o.Labels.Get(labels.AlertName) + " " + o.Labels.Get("slo")); name == "" || other < name {
			name = other
		}
	}
	return name
}

type notification struct {
	id      uint64
	news    news
	urgent  bool
	asOf    time.Time
	ahead   time.Duration // of the wall clock
	message message
}

// due returns what to send to the Alertmanager at url, at most limit, new facts first. With
// onlyUrgent it leaves out reminders.
func (s *alertStates) due(url string, limit int, onlyUrgent bool) []notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ahead := s.clock.now(), s.clock.step()
	var out []notification
	for id, r := range s.byID {
		n, urgent := r.next(r.Delivered[url], now, ahead)
		if n == nothing || onlyUrgent && !urgent {
			continue
		}
		out = append(out, notification{id, n, urgent, now, ahead, s.message(r, n, now)})
	}
	// sorted by start, so that tests and logs are reproducible
	slices.SortFunc(out, func(a, b notification) int {
		switch {
		case a.urgent && !b.urgent:
			return -1
		case b.urgent && !a.urgent:
			return 1
		}
		return cmp.Or(a.message.StartsAt.Compare(b.message.StartsAt), labels.Compare(a.message.Labels, b.message.Labels))
	})
	return out[:min(len(out), limit)]
}

// delivered records that the Alertmanager at url accepted the batch.
func (s *alertStates) delivered(url string, batch []notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range batch {
		if r := s.byID[n.id]; r != nil {
			r.markDelivered(url, n.news, n.asOf, n.ahead)
		}
	}
}

// undelivered counts the alerts whose current state the Alertmanager at url does not know.
func (s *alertStates) undelivered(url string) int { return len(s.due(url, 1<<30, true)) }

// message is an alert in the form of the Alertmanager API. Its times are wall times, because an
// Alertmanager compares them with its own clock.
type message struct {
	Labels       labels.Labels `json:"labels"`
	Annotations  labels.Labels `json:"annotations"`
	StartsAt     time.Time     `json:"startsAt"`
	EndsAt       time.Time     `json:"endsAt"`
	GeneratorURL string        `json:"generatorURL,omitempty"`
}

func (s *alertStates) message(r *alertState, n news, now time.Time) message {
	m := message{Labels: r.Labels, Annotations: r.Annotations, StartsAt: s.clock.toWall(r.StartsAt)}
	if n == sendFiring {
		m.EndsAt = s.clock.toWall(now.Add(validFor))
		return m
	}
	// The end of an alert that was held is now. It must not lie in the future, or the alert counts
	// as firing.
	m.EndsAt = s.clock.wall()
	if ended := s.clock.toWall(r.EndsAt); ended.Before(m.EndsAt) && now.Sub(r.EndsAt) <= resend {
		m.EndsAt = ended
	}
	return m
}

// alertState is an alert from its start until every Alertmanager knows its end. Its times are
// those of the pager's clock; in the file they are wall times.
type alertState struct {
	Labels      labels.Labels `json:"labels"`
	Annotations labels.Labels `json:"annotations"`
	StartsAt    time.Time     `json:"starts_at"`
	// EndsAt is zero while the alert fires.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// KeptSince is when the expression stopped holding, while keep_firing_for keeps the alert
	// firing; otherwise zero.
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
