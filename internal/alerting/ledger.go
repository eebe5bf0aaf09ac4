package alerting

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// Change says that an alert began to fire or is over.
type Change struct {
	Firing      bool
	Labels      map[string]string
	Annotations map[string]string
	Value       float64
	// At is when the alert began to fire.
	At time.Time
	// Lasted is how long it fired; zero if it does.
	Lasted time.Duration
}

// ledger holds the state of every alert that an Alertmanager may still have to
// hear of. It holds states, not messages: however long an Alertmanager is
// away, it takes no more than there are alerts, and nothing is dropped.
type ledger struct {
	clock    *clock
	external labels.Labels
	urls     []string
	onChange func(Change)

	mu      sync.Mutex
	records map[uint64]*record
	wakes   []chan struct{}
}

func newLedger(c *clock, external labels.Labels, urls []string, onChange func(Change)) *ledger {
	if onChange == nil {
		onChange = func(Change) {}
	}
	return &ledger{clock: c, external: external, urls: urls, onChange: onChange, records: map[uint64]*record{}}
}

// watch returns a channel that holds a token after something changed.
func (l *ledger) watch() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{}, 1)
	l.wakes = append(l.wakes, c)
	return c
}

// notify implements rules.NotifyFunc: it takes the alerts of one rule that
// fire, or that ended lately.
func (l *ledger) notify(_ context.Context, _ string, alerts ...*rules.Alert) {
	l.update(func(time.Time) (changes []Change) {
		for _, a := range alerts {
			if c, changed := l.take(a); changed {
				changes = append(changes, c)
			}
		}
		return changes
	})
}

// expire ends the alerts that their rules no longer speak of, and forgets
// those that are over for everybody.
func (l *ledger) expire() {
	l.update(func(now time.Time) (changes []Change) {
		for id, r := range l.records {
			if r.firing() && now.After(r.validUntil) {
				r.endsAt = now
				changes = append(changes, l.change(r))
			}
			if r.done(l.urls, now) {
				delete(l.records, id)
			}
		}
		return changes
	})
}

// update changes records under the lock, and tells of the changes after it.
func (l *ledger) update(do func(now time.Time) []Change) {
	l.mu.Lock()
	changes := do(l.clock.now())
	wakes := l.wakes
	l.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	for _, w := range wakes {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	for _, c := range changes {
		l.onChange(c)
	}
}

// take brings one alert up to date.
func (l *ledger) take(a *rules.Alert) (Change, bool) {
	ls := l.identity(a.Labels)
	id := ls.Hash()
	r := l.records[id]
	over := !a.ResolvedAt.IsZero()
	switch {
	case over && (r == nil || !r.firing()):
		return Change{}, false
	case over:
		r.endsAt, r.annotations = a.ResolvedAt, a.Annotations
		return l.change(r), true
	case r == nil:
		r = &record{labels: ls, startsAt: a.FiredAt, delivered: map[string]delivery{}}
		l.records[id] = r
		r.refresh(a)
		return l.change(r), true
	}
	began := !r.firing()
	r.refresh(a)
	return l.change(r), began
}

// identity adds the external labels that the alert does not have itself.
func (l *ledger) identity(ls labels.Labels) labels.Labels {
	b := labels.NewBuilder(ls)
	l.external.Range(func(e labels.Label) {
		if !ls.Has(e.Name) {
			b.Set(e.Name, e.Value)
		}
	})
	return b.Labels()
}

func (l *ledger) change(r *record) Change {
	c := Change{
		Firing: r.firing(), Labels: r.labels.Map(), Annotations: r.annotations.Map(),
		Value: r.value, At: l.clock.toWall(r.startsAt),
	}
	if !c.Firing {
		c.Lasted = r.endsAt.Sub(r.startsAt)
	}
	return c
}

// letter is what one Alertmanager is to be told of one alert.
type letter struct {
	id      uint64
	step    step
	asOf    time.Time
	ahead   time.Duration // of the wall clock
	message message
}

// due lists what the Alertmanager at url should be told now, at most limit,
// what is new to it first. With onlyUrgent, reminders are left out.
func (l *ledger) due(url string, limit int, onlyUrgent bool) []letter {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, ahead := l.clock.now(), l.clock.step()
	var urgent, reminders []letter
	for id, r := range l.records {
		s, isUrgent := r.next(r.delivered[url], now, ahead)
		switch {
		case s == nothing:
		case isUrgent:
			urgent = append(urgent, letter{id, s, now, ahead, l.message(r, s, now)})
		case !onlyUrgent:
			reminders = append(reminders, letter{id, s, now, ahead, l.message(r, s, now)})
		}
	}
	// The order is that of the beginnings, so that tests and logs repeat.
	for _, letters := range [][]letter{urgent, reminders} {
		slices.SortFunc(letters, func(a, b letter) int {
			if c := a.message.StartsAt.Compare(b.message.StartsAt); c != 0 {
				return c
			}
			return strings.Compare(a.message.Labels.String(), b.message.Labels.String())
		})
	}
	out := append(urgent, reminders...)
	return out[:min(len(out), limit)]
}

// told notes that the Alertmanager at url took the letters.
func (l *ledger) told(url string, letters []letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range letters {
		if r := l.records[t.id]; r != nil {
			r.tell(url, t.step, t.asOf, t.ahead)
		}
	}
}

// undelivered counts the alerts of which the Alertmanager at url does not know
// the latest.
func (l *ledger) undelivered(url string) int {
	return len(l.due(url, 1<<30, true))
}

// message is an alert as the Alertmanager's API takes it. Its times are of the
// wall clock, which is what an Alertmanager compares them with.
type message struct {
	Labels       labels.Labels `json:"labels"`
	Annotations  labels.Labels `json:"annotations"`
	StartsAt     time.Time     `json:"startsAt"`
	EndsAt       time.Time     `json:"endsAt"`
	GeneratorURL string        `json:"generatorURL,omitempty"`
}

func (l *ledger) message(r *record, s step, now time.Time) message {
	m := message{Labels: r.labels, Annotations: r.annotations, StartsAt: l.clock.toWall(r.startsAt)}
	if s == tellFiring {
		m.EndsAt = l.clock.toWall(now.Add(validFor))
		return m
	}
	// An alert that was held is over only now. The end must not lie ahead, not
	// by a millisecond: it would be believed to fire.
	m.EndsAt = l.clock.wall()
	if ended := l.clock.toWall(r.endsAt); ended.Before(m.EndsAt) && now.Sub(r.endsAt) <= resend {
		m.EndsAt = ended
	}
	return m
}
