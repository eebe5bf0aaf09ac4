package status

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

const (
	// incidentsKept bounds the incidents, alertsKept the alerts of one.
	incidentsKept, alertsKept = 100, 50
	// worstKept are the turns that an incident shows.
	worstKept = 10
	// reopens is how long after its end an incident goes on with the next alert.
	reopens = 15 * time.Minute
)

// AlertChange says that an alert began to fire or is over.
type AlertChange struct {
	Firing              bool
	Labels, Annotations map[string]string
	// At is when it began to fire, Lasted how long it did; 0 while it does.
	At     time.Time
	Lasted time.Duration
	// GoesOnAs is the alert that has taken over from it, "" for none.
	GoesOnAs string
}

// subject is what the alerts of one incident have in common: a job, or what else
// they name.
type subject struct {
	probe.Key
	other string
}

func subjectOf(labels map[string]string) subject {
	s := subject{Key: probe.Key{Target: labels["target"], Workload: labels["workload"]}}
	switch {
	case s.Target != "":
	case labels["scope"] == "fleet":
		s.other = "many targets"
	default:
		s.other = "the prober " + labels["instance"]
	}
	return s
}

func (s subject) String() string { return cmp.Or(s.Target, strings.TrimSpace(s.other)) }

// incident is what alerts about one subject say from the first to the last.
type incident struct {
	ID      string
	About   subject
	Started time.Time // of its first alert
	Ended   time.Time // zero while one fires
	Alerts  []firedAlert
	// Worst are its worst turns, worst first.
	Worst []scored
	// Peak is the largest effect that was seen, Since when its turns began to be
	// bad.
	Peak  effect
	Since time.Time
	// Turns and Failed count from then on; Reason is how the last one failed.
	Turns, Failed int
	Reason        probe.Outcome
}

// firedAlert is one alert of an incident. Over is zero while it fires.
type firedAlert struct {
	Name, Severity, Summary, Description string
	Dashboard                            string
	// sli is what it is about, latency or availability; "" for neither.
	sli        string
	From, Over time.Time
	GoesOnAs   string
}

// scored is a turn, and how bad it is: how many times the usual, or more than that
// where it failed.
type scored struct {
	probe.Result
	score float64
}

// paging reports whether a page fires.
func (i incident) paging() bool {
	return i.has(func(a firedAlert) bool { return a.Severity == "page" && a.Over.IsZero() })
}

// paged reports whether one ever did.
func (i incident) paged() bool {
	return i.has(func(a firedAlert) bool { return a.Severity == "page" })
}

// has reports whether an alert did that is such.
func (i incident) has(such func(firedAlert) bool) bool { return slices.ContainsFunc(i.Alerts, such) }

// Main is the alert that explains the others: a page about a cause, else its first
// page, else the first of its alerts.
func (i incident) Main() firedAlert {
	causes := []string{rules.AlertFleetRegression, rules.AlertTargetDown, rules.AlertRegression}
	main := i.Alerts[0]
	for _, a := range i.Alerts {
		if a.Severity == "page" && (main.Severity != "page" || slices.Contains(causes, a.Name) && !slices.Contains(causes, main.Name)) {
			main = a
		}
	}
	return main
}

// incidents are those that this process has seen, oldest first.
type incidents struct {
	mu  sync.Mutex
	all []*incident
}

// open returns that of a subject which goes on, or may again at a time; nil if
// there is none. The caller holds mu.
func (s *incidents) open(about subject, at time.Time) *incident {
	for _, i := range slices.Backward(s.all) {
		if i.About == about && (i.Ended.IsZero() || at.Sub(i.Ended) < reopens) {
			return i
		}
	}
	return nil
}

// take notes a change of an alert, and says whether an incident began with it.
// before is what its job did until then.
func (s *incidents) take(c AlertChange, before func() past) (began bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := subjectOf(c.Labels)
	i := s.open(about, c.At)
	if i == nil {
		if !c.Firing {
			return false
		}
		i, began = &incident{About: about, Started: c.At, ID: s.newID(about, c.At)}, true
		s.all = keep(s.all, i, incidentsKept)
	}
	if i.note(c) {
		i.reach(c.At, i.Alerts[len(i.Alerts)-1].sli, before())
	}
	return began
}

// newID names an incident in an address. The caller holds mu.
func (s *incidents) newID(about subject, at time.Time) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	id := at.UTC().Format("20060102-1504") + "-" + strings.Trim(strings.Map(plain, strings.ToLower(clip(about.String(), 40))), "-")
	for n := 2; slices.ContainsFunc(s.all, func(o *incident) bool { return o.ID == id }); n++ {
		id = strings.TrimSuffix(id, "."+itoa(n-1)) + "." + itoa(n)
	}
	return id
}

// reach takes in what went before an alert about such an SLI: the incident is as old
// as the fault that the alert is about.
func (i *incident) reach(at time.Time, sli string, p past) {
	if p.effect.Ratio > i.Peak.Ratio {
		i.Peak = p.effect
	}
	known, since := i.Since, at
	if sli == rules.SLILatency && !p.effect.Since.IsZero() {
		since = p.effect.Since
	} else if sli == rules.SLIAvailability && !p.failing.IsZero() {
		since = p.failing
	}
	if !known.IsZero() && !since.Before(known) {
		return
	}
	i.Since = since
	isNew := func(end time.Time) bool { return !end.Before(since) && (known.IsZero() || end.Before(known)) }
	for _, s := range p.samples {
		if isNew(s.end) {
			i.count(s.outcome)
		}
	}
	for _, t := range p.turns {
		if isNew(t.End) {
			i.add(t)
		}
	}
}

// note takes over a change of an alert, and says whether it began to fire.
func (i *incident) note(c AlertChange) (began bool) {
	name, severity := strings.TrimSpace(c.Labels["alertname"]+" "+c.Labels["slo"]), c.Labels["severity"]
	at := slices.IndexFunc(i.Alerts, func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && a.Over.IsZero()
	})
	switch {
	case c.Firing && at < 0:
		i.Alerts, i.Ended = keep(i.Alerts, newAlert(name, c), alertsKept), time.Time{}
		return true
	case c.Firing:
		i.Alerts[at].Summary, i.Alerts[at].Description = c.Annotations["summary"], c.Annotations["description"]
	case at >= 0:
		i.Alerts[at].Over, i.Alerts[at].GoesOnAs = c.At.Add(c.Lasted), c.GoesOnAs
		if !i.has(func(a firedAlert) bool { return a.Over.IsZero() }) {
			i.Ended = i.Alerts[at].Over
		}
	}
	return false
}

func newAlert(name string, c AlertChange) firedAlert {
	a := firedAlert{
		Name: name, Severity: c.Labels["severity"], Summary: c.Annotations["summary"], Description: c.Annotations["description"],
		From: c.At, sli: c.Labels["sli"],
	}
	switch c.Labels["alertname"] {
	case rules.AlertRegression:
		a.sli = rules.SLILatency
	case rules.AlertTargetDown:
		a.sli = rules.SLIAvailability
	}
	if link := c.Annotations["dashboard_url"]; webAddress(link) {
		a.Dashboard = link
	}
	return a
}

// count takes in how a turn ended.
func (i *incident) count(o probe.Outcome) {
	i.Turns++
	if o.Failed() {
		i.Failed++
		i.Reason = o
	}
}

// add keeps a turn if it is one of the worst.
func (i *incident) add(t scored) {
	at, _ := slices.BinarySearchFunc(i.Worst, t.score, func(a scored, score float64) int { return cmp.Compare(score, a.score) })
	if at < worstKept {
		i.Worst = slices.Insert(i.Worst, at, t)[:min(len(i.Worst)+1, worstKept)]
	}
}

// observe gives a turn to the incident of its job, if there is one that goes on.
func (s *incidents) observe(t scored) {
	s.update(t.Key(), func(i *incident) {
		i.count(t.Outcome)
		i.add(t)
	})
}

// saw takes note of an effect.
func (s *incidents) saw(job probe.Key, e effect) {
	s.update(job, func(i *incident) {
		if e.Ratio > i.Peak.Ratio {
			i.Peak = e
		}
		if !e.Since.IsZero() && e.Since.Before(i.Since) {
			i.Since = e.Since
		}
	})
}

func (s *incidents) update(job probe.Key, change func(*incident)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.open(subject{Key: job}, time.Time{}); i != nil && i.Ended.IsZero() {
		change(i)
	}
}

// list copies them, those that go on first, the latest first among each.
func (s *incidents) list() []incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []incident
	for _, i := range slices.Backward(s.all) {
		one := *i
		one.Alerts, one.Worst = slices.Clone(i.Alerts), slices.Clone(i.Worst)
		out = append(out, one)
	}
	rank := func(i incident) int {
		switch {
		case i.paging():
			return 0
		case i.Ended.IsZero():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b incident) int { return rank(a) - rank(b) })
	return out
}
