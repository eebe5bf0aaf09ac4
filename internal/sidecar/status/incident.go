package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

const (
	// incidentsKept bounds the finished incidents, alertsKept the alerts of one incident.
	incidentsKept, alertsKept = 100, 50
	worstKept                 = 10
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
	Reasons       []failureReason
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

func (i incident) paging() bool {
	return i.has(func(a firedAlert) bool { return a.Severity == "page" && a.Over.IsZero() })
}

func (i incident) has(match func(firedAlert) bool) bool { return slices.ContainsFunc(i.Alerts, match) }

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

// extendBack extends the incident back to the start of the fault that the alert reports.
func (i *incident) extendBack(at time.Time, sli string, p past) {
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

// apply records a change of an alert, and reports whether it started.
func (i *incident) apply(c AlertChange) (began bool) {
	name, severity := strings.TrimSpace(c.Labels["alertname"]+" "+c.Labels["slo"]), c.Labels["severity"]
	at := slices.IndexFunc(i.Alerts, func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && a.Over.IsZero()
	})
	// The pager's list may be older than the end of an alert.
	ended := i.has(func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && !a.Over.IsZero() && a.From.Equal(c.At)
	})
	switch {
	case c.Firing && ended:
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
		Name: name, Severity: c.Labels["severity"], From: c.At, sli: c.Labels["sli"],
		Summary: c.Annotations["summary"], Description: c.Annotations["description"],
	}
	switch c.Labels["alertname"] {
	case rules.AlertRegression:
		a.sli = rules.SLILatency
	case rules.AlertTargetDown:
		a.sli = rules.SLIAvailability
	}
	if link := c.Annotations["dashboard_url"]; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		a.Dashboard = link
	}
	return a
}

func (i *incident) count(o probe.Outcome) {
	i.Turns++
	if o.Failed() {
		i.Failed++
		at := slices.IndexFunc(i.Reasons, func(r failureReason) bool { return r.Outcome == o })
		if at < 0 {
			at, i.Reasons = len(i.Reasons), append(i.Reasons, failureReason{Outcome: o})
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

type incidents struct {
	mu  sync.Mutex
	all []*incident
}

// open returns the incident of a subject that continues, or that may be continued at a time;
// nil without one. The caller holds mu.
func (s *incidents) open(about subject, at time.Time) *incident {
	for _, i := range slices.Backward(s.all) {
		if i.About == about && (i.Ended.IsZero() || at.Sub(i.Ended) < reopens) {
			return i
		}
	}
	return nil
}

// record records a change of an alert. before returns the history of its job.
func (s *incidents) record(c AlertChange, before func() past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := subjectOf(c.Labels)
	i := s.open(about, c.At)
	if i == nil {
		if !c.Firing {
			return
		}
		i = &incident{About: about, Started: c.At, ID: s.newID(about, c.At)}
		s.makeRoom()
		s.all = append(s.all, i)
	}
	if i.apply(c) {
		i.extendBack(c.At, i.Alerts[len(i.Alerts)-1].sli, before())
	}
}

// makeRoom drops the oldest finished incident. The number of open incidents is bounded by the
// number of subjects. The caller holds mu.
func (s *incidents) makeRoom() {
	ended := func(i *incident) bool { return !i.Ended.IsZero() }
	if at := slices.IndexFunc(s.all, ended); at >= 0 && len(s.all) >= incidentsKept {
		s.all = slices.Delete(s.all, at, at+1)
	}
}

func (s *incidents) marks(target string, within span) (out []Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.all {
		if i.About.Target == target && within.contains(i.Started) {
			out = append(out, Mark{At: i.Started, Kind: markIncident, Target: target, Text: i.Alerts[0].Name})
		}
	}
	return out
}

// newID returns the id of an incident in addresses. The caller holds mu.
func (s *incidents) newID(about subject, at time.Time) string {
	inAddress := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	id := at.UTC().Format("20060102-1504") + "-" + strings.Trim(strings.Map(inAddress, strings.ToLower(clip(about.String(), 40))), "-")
	for n := 2; slices.ContainsFunc(s.all, func(o *incident) bool { return o.ID == id }); n++ {
		id = fmt.Sprintf("%s.%d", strings.TrimSuffix(id, fmt.Sprint(".", n-1)), n)
	}
	return id
}

// observe adds a turn to the open incident of its job.
func (s *incidents) observe(t scored) {
	s.update(t.Key(), func(i *incident) {
		i.count(t.Outcome)
		i.add(t)
	})
}

// recordEffect records an effect on the open incident of a job.
func (s *incidents) recordEffect(job probe.Key, e effect) {
	s.update(job, func(i *incident) {
		if e.Ratio > i.Peak.Ratio {
			i.Peak = e
		}
		slow := i.has(func(a firedAlert) bool { return a.sli == rules.SLILatency })
		if slow && !e.Since.IsZero() && e.Since.Before(i.Since) {
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

// list copies the incidents: pages first, then tickets, then finished ones, the latest first in each group.
func (s *incidents) list() []incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []incident
	for _, i := range slices.Backward(s.all) {
		copied := *i
		copied.Alerts, copied.Worst, copied.Reasons = slices.Clone(i.Alerts), slices.Clone(i.Worst), slices.Clone(i.Reasons)
		out = append(out, copied)
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
