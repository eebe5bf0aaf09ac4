package alerting

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/notifier"
	"github.com/prometheus/prometheus/rules"
)

// Transition is the start or end of an alert.
type Transition struct {
	Firing      bool
	Labels      map[string]string
	Annotations map[string]string
	Value       float64
	Lasted      time.Duration // zero while it fires
}

// alertStates holds every alert about which an Alertmanager may still need a notification.
type alertStates struct {
	clock    *clock
	external labels.Labels
	onChange func(Transition)
	changed  atomic.Bool // since the last notification

	mu   sync.Mutex
	byID map[uint64]*alertState
}

// notify implements rules.NotifyFunc. It gets the alerts of one rule that fire or ended lately.
func (s *alertStates) notify(_ context.Context, _ string, alerts ...*rules.Alert) {
	s.mu.Lock()
	var changes []Transition
	for _, a := range alerts {
		ls := s.identity(a.Labels)
		r := s.byID[ls.Hash()]
		fired := r != nil && r.firing()
		switch {
		case a.ResolvedAt.IsZero():
			if r == nil {
				r = &alertState{Labels: ls, StartsAt: a.FiredAt}
				s.byID[ls.Hash()] = r
			}
			r.refresh(a)
		case fired:
			r.EndsAt, r.Annotations = a.ResolvedAt, a.Annotations
		}
		if r != nil && r.firing() != fired {
			changes = append(changes, s.transition(r))
		}
	}
	s.mu.Unlock()
	s.report(changes)
}

// expire ends the alerts that their rules no longer report.
func (s *alertStates) expire() {
	s.mu.Lock()
	var changes []Transition
	now := s.clock.now()
	for _, r := range s.byID {
		if r.firing() && now.After(r.validUntil) {
			r.EndsAt = now
			changes = append(changes, s.transition(r))
		}
	}
	s.mu.Unlock()
	s.report(changes)
}

func (s *alertStates) report(changes []Transition) {
	for _, c := range changes {
		s.changed.Store(true)
		s.onChange(c)
	}
}

// identity adds the external labels that the alert does not have.
func (s *alertStates) identity(ls labels.Labels) labels.Labels {
	b := labels.NewBuilder(s.external)
	ls.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
	return b.Labels()
}

func (s *alertStates) transition(r *alertState) Transition {
	t := Transition{Firing: r.firing(), Labels: r.Labels.Map(), Annotations: r.Annotations.Map(), Value: r.value}
	if !t.Firing {
		t.Lasted = r.EndsAt.Sub(r.StartsAt)
	}
	return t
}

const (
	// resend is the interval of reminders about a firing alert.
	resend = time.Minute
	// validFor is how long an Alertmanager keeps an alert without a reminder: three lost reminders.
	validFor = 4 * resend
	// repeatEnd is how long the end is repeated, in case the Alertmanager restarts before it has notified anybody.
	repeatEnd = 15 * time.Minute
	// missedHold is how long an alert that started and ended while no Alertmanager could be reached is
	// reported as firing. It must exceed the usual group_interval of 5m, or nobody is notified.
	missedHold = 6 * time.Minute
	// missedWithin is the largest age of such an alert that is still reported.
	missedWithin = time.Hour
)

// outgoing returns what to send now, and drops the alerts whose end is known. Its times are wall times, because an
// Alertmanager compares them with its own clock.
func (s *alertStates) outgoing(from string) (out []*notifier.Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, step := s.clock.now(), s.clock.step()
	for id, r := range s.byID {
		firing, ended := r.reported(now), now.Sub(r.EndsAt)
		if !firing && ended >= repeatEnd && (!r.OverAt.IsZero() || ended > missedWithin) {
			delete(s.byID, id)
			continue
		}
		a := &notifier.Alert{Labels: r.Labels, Annotations: r.Annotations, GeneratorURL: from, StartsAt: r.StartsAt.Add(step), EndsAt: now.Add(validFor + step)}
		if over := r.EndsAt.Add(step); !firing {
			a.EndsAt = over
		} else if !r.firing() {
			a.Annotations = labels.NewBuilder(a.Annotations).Set("summary", a.Annotations.Get("summary")+"; over since "+over.UTC().Format("15:04:05 MST")).Labels()
		}
		out = append(out, a)
	}
	return out
}

// reported returns whether to report the alert as firing: also if it ended, but no Alertmanager knew it before.
func (r *alertState) reported(now time.Time) bool {
	switch {
	case r.firing():
		return true
	case r.ToldAt.IsZero():
		return now.Sub(r.EndsAt) <= missedWithin
	}
	return r.ToldAt.After(r.EndsAt) && now.Sub(r.ToldAt) < missedHold
}

// accepted records that an Alertmanager accepted an alert with a time of its end.
func (s *alertStates) accepted(ls labels.Labels, ends time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, r := s.clock.now(), s.byID[ls.Hash()]
	switch firing := ends.After(s.clock.wall()); {
	case r == nil:
	case firing && r.ToldAt.IsZero():
		r.ToldAt = now
	case !firing && !r.firing() && r.OverAt.IsZero():
		r.OverAt = now
	}
}

// snapshot returns copies of the states with wall times.
func (s *alertStates) snapshot() []*alertState {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []*alertState{}
	for _, r := range s.byID {
		saved := *r
		for _, t := range []*time.Time{&saved.StartsAt, &saved.EndsAt, &saved.KeptSince, &saved.ToldAt, &saved.OverAt} {
			*t = s.clock.toWall(*t)
		}
		out = append(out, &saved)
	}
	return out
}

// alertState is an alert from its start until an Alertmanager knows its end. Its times are those of the pager's clock;
// in the file they are wall times.
type alertState struct {
	Labels      labels.Labels `json:"labels"`
	Annotations labels.Labels `json:"annotations"`
	StartsAt    time.Time     `json:"starts_at"`
	// EndsAt is zero while the alert fires.
	EndsAt time.Time `json:"ends_at,omitzero"`
	// KeptSince is when the expression stopped holding, while keep_firing_for keeps the alert firing; otherwise zero.
	KeptSince time.Time `json:"kept_since,omitzero"`
	// ToldAt is when an Alertmanager first accepted the start, OverAt the end.
	ToldAt time.Time `json:"told_at,omitzero"`
	OverAt time.Time `json:"over_at,omitzero"`

	value float64
	// validUntil is when a firing alert ends if its rule, which was removed or fails, does not report it any more.
	validUntil time.Time
}

func (r *alertState) firing() bool { return r.EndsAt.IsZero() }

// refresh updates a firing alert from its rule. A continuing alert keeps its start, also across a restart.
func (r *alertState) refresh(a *rules.Alert) {
	if !r.firing() {
		r.StartsAt, r.EndsAt, r.ToldAt, r.OverAt = a.FiredAt, time.Time{}, time.Time{}, time.Time{}
	}
	if a.FiredAt.Before(r.StartsAt) {
		r.StartsAt = a.FiredAt
	}
	r.Annotations, r.value = a.Annotations, a.Value
	r.KeptSince, r.validUntil = a.KeepFiringSince, a.ValidUntil
}
