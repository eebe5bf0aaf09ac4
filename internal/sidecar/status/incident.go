package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

const (
	// incidentsKept bounds the incidents that are over, alertsKept the alerts of one.
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
	default: // itself, whatever external labels call it: the pager's list has none of those
		s.other = "the prober"
	}
	return s
}

func (s subject) String() string { return cmp.Or(s.Target, s.other) }

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
	// Turns and Failed count from then on, Reasons how many failed in which way.
	Turns, Failed int
	Reasons       []Reason
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
	// Asked what fires, the pager may have answered before an alert was over.
	late := i.has(func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && !a.Over.IsZero() && a.From.Equal(c.At)
	})
	switch {
	case c.Firing && late:
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
		at := slices.IndexFunc(i.Reasons, func(r Reason) bool { return r.Outcome == o })
		if at < 0 {
			at, i.Reasons = len(i.Reasons), append(i.Reasons, Reason{Outcome: o})
		}
		i.Reasons[at].Turns++
	}
}

// add keeps a turn if it is one of the worst.
func (i *incident) add(t scored) {
	at, _ := slices.BinarySearchFunc(i.Worst, t.score, func(a scored, score float64) int { return cmp.Compare(score, a.score) })
	if at < worstKept {
		i.Worst = slices.Insert(i.Worst, at, t)[:min(len(i.Worst)+1, worstKept)]
	}
}
