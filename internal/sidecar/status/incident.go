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
	// incidentsKept bounds the finished incidents, alertsKept the alerts of one incident.
	incidentsKept, alertsKept = 100, 50
	// worstKept is the number of turns that an incident shows.
	worstKept = 10
	// reopens is how long after its end a new alert continues an incident.
	reopens = 15 * time.Minute
)

// AlertChange is the start or end of an alert.
type AlertChange struct {
	Firing              bool
	Labels, Annotations map[string]string
	// At is the start of the alert, Lasted its duration; 0 while it fires.
	At     time.Time
	Lasted time.Duration
	// GoesOnAs is the alert that continues it, "" for none.
	GoesOnAs string
}

// subject is common to the alerts of one incident: a job, or another label value.
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
	default: // external labels may name it differently, but the pager's list has none of them
		s.other = "the prober"
	}
	return s
}

func (s subject) String() string { return cmp.Or(s.Target, s.other) }

// incident is the history of the alerts about one subject.
type incident struct {
	ID      string
	About   subject
	Started time.Time // start of its first alert
	Ended   time.Time // zero while an alert fires
	Alerts  []firedAlert
	// worst turns, worst first
	Worst []scored
	// Peak is the largest effect seen, Since the start of bad turns.
	Peak  effect
	Since time.Time
	// Turns and Failed count from Since on; Reasons counts failures by reason.
	Turns, Failed int
	Reasons       []Reason
}

// firedAlert is one alert of an incident. Over is zero while it fires.
type firedAlert struct {
	Name, Severity, Summary, Description string
	Dashboard                            string
	// latency, availability, or "" for neither
	sli        string
	From, Over time.Time
	GoesOnAs   string
}

// scored is a turn with its badness: the ratio to the baseline, or more if it failed.
type scored struct {
	probe.Result
	score float64
}

// paging reports whether a page fires.
func (i incident) paging() bool {
	return i.has(func(a firedAlert) bool { return a.Severity == "page" && a.Over.IsZero() })
}

// paged reports whether a page has ever fired.
func (i incident) paged() bool {
	return i.has(func(a firedAlert) bool { return a.Severity == "page" })
}

// has reports whether an alert satisfies such.
func (i incident) has(such func(firedAlert) bool) bool { return slices.ContainsFunc(i.Alerts, such) }

// Main returns the alert that explains the others: a page about a cause, else the first page,
// else the first alert.
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

// reach extends the incident back to the start of the fault that the alert reports.
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

// note records a change of an alert, and reports whether it started.
func (i *incident) note(c AlertChange) (began bool) {
	name, severity := strings.TrimSpace(c.Labels["alertname"]+" "+c.Labels["slo"]), c.Labels["severity"]
	at := slices.IndexFunc(i.Alerts, func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && a.Over.IsZero()
	})
	// The pager's list may be older than the end of an alert.
	late := i.has(func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && !a.Over.IsZero() && a.From.Equal(c.At)
	})
	switch {
	case c.Firing && late:
	case c.Firing && at < 0:
		i.Alerts, i.Ended = appendBounded(i.Alerts, newAlert(name, c), alertsKept), time.Time{}
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

// count counts the outcome of a turn.
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

// add keeps a turn if it is among the worst.
func (i *incident) add(t scored) {
	at, _ := slices.BinarySearchFunc(i.Worst, t.score, func(a scored, score float64) int { return cmp.Compare(score, a.score) })
	if at < worstKept {
		i.Worst = slices.Insert(i.Worst, at, t)[:min(len(i.Worst)+1, worstKept)]
	}
}
