package status

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

const (
	// incidentsKept bounds the finished incidents, alertsKept the alerts of one incident.
	incidentsKept, alertsKept = 300, 50
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
	Other string `json:"other,omitempty"`
}

func subjectOf(labels map[string]string) subject {
	s := subject{Key: probe.Key{Target: labels["target"], Workload: labels["workload"]}}
	switch {
	case s.Target != "":
	case labels["scope"] == "fleet":
		s.Other = "many targets"
	default: // external labels may name it differently, but the pager's list has none of them
		s.Other = "the prober"
	}
	return s
}

func (s subject) String() string { return cmp.Or(s.Target, s.Other) }

// incident is the history of the alerts about one subject.
type incident struct {
	ID      string       `json:"id"`
	About   subject      `json:"about"`
	Started time.Time    `json:"started"`        // start of its first alert
	Ended   time.Time    `json:"ended,omitzero"` // zero while an alert fires
	Alerts  []firedAlert `json:"alerts"`
	// worst turns, worst first
	Worst []scored `json:"worst,omitempty"`
	// Peak is the largest effect seen, Since the start of bad turns.
	Peak  effect    `json:"peak,omitzero"`
	Since time.Time `json:"since"`
	// Turns and Failed count from Since on; Reasons counts failures by reason.
	Turns   int             `json:"turns"`
	Failed  int             `json:"failed"`
	Reasons []failureReason `json:"reasons,omitempty"`
	// Cut counts answers that the token limit ended, from Since on; CutBefore those before it.
	Cut       cutAnswers `json:"cut,omitzero"`
	CutBefore cutAnswers `json:"cut_before,omitzero"`
	// Bad counts the turns or sessions that missed an objective, by its name.
	Bad map[string]int `json:"bad,omitempty"`
	// Judged is "false" after somebody has marked the incident as a false page.
	Judged string `json:"judged,omitempty"`
	// unsaved is true if the incident has changed since it was last saved.
	unsaved bool
}

// cutAnswers counts successful answers, and those of them that the token limit ended.
type cutAnswers struct {
	Cut int `json:"cut"`
	All int `json:"all"`
}

func (c *cutAnswers) count(o probe.Outcome, cut bool) {
	if o == probe.Success {
		c.All++
	}
	if cut {
		c.Cut++
	}
}

func (c cutAnswers) share() float64 { return float64(c.Cut) / float64(max(c.All, 1)) }

const (
	// minCutAnswers is the smallest number of answers whose share is compared, minCutChange the
	// smallest difference that is shown.
	minCutAnswers, minCutChange = 10, 0.1
)

// CutText says that the share of answers that the token limit ended has moved; "" if it has not.
func (i incident) CutText() string {
	now, before := i.Cut.share(), i.CutBefore.share()
	if min(i.Cut.All, i.CutBefore.All) < minCutAnswers || math.Abs(now-before) < minCutChange {
		return ""
	}
	return fmt.Sprintf("the token limit cut %.0f %% of the answers, before %.0f %%", 100*now, 100*before)
}

// firedAlert is one alert of an incident. Over is zero while it fires.
type firedAlert struct {
	Name        string `json:"name"`
	Severity    string `json:"severity"`
	Summary     string `json:"summary"`
	Description string `json:"description,omitempty"`
	Dashboard   string `json:"dashboard,omitempty"`
	// one of the SLI constants of rules, correct, or "" for an alert on no objective
	SLI      string    `json:"sli,omitempty"`
	From     time.Time `json:"from"`
	Over     time.Time `json:"over,omitzero"`
	GoesOnAs string    `json:"goes_on_as,omitempty"`
	// earlier is true for an alert of an earlier process that the pager of this one has not reported yet.
	earlier bool
}

// alert returns the alert's name without its SLO.
func (a firedAlert) alert() string {
	name, _, _ := strings.Cut(a.Name, " ")
	return name
}

// scored is a turn with its badness: the ratio to the baseline, or more if it failed.
type scored struct {
	probe.Result
	Score float64
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
	known, since, ofSessions := i.Since, at, sli == rules.SLISession
	if (sli == rules.SLIAvailability || ofSessions) && !p.failing.IsZero() {
		since = p.failing
	} else if (sli == rules.SLILatency || ofSessions) && !p.effect.Since.IsZero() {
		since = p.effect.Since
	}
	if !known.IsZero() && !since.Before(known) {
		return
	}
	i.Since, i.CutBefore = since, cutAnswers{}
	isNew := func(end time.Time) bool { return !end.Before(since) && (known.IsZero() || end.Before(known)) }
	for _, s := range p.samples {
		if isNew(s.end) {
			i.count(s.outcome(), s.cut)
			i.countBad(missed(p.objectives, s.result(p.key)))
		} else if s.end.Before(since) {
			i.CutBefore.count(s.outcome(), s.cut)
		}
	}
	for _, c := range p.sessions {
		if isNew(c.End) {
			i.countBad(missedBySession(p.objectives, c))
		}
	}
	for _, t := range p.turns {
		if isNew(t.End) {
			i.add(t)
		}
	}
}

// apply records a change of an alert, and reports whether the alert started or ended.
func (i *incident) apply(c AlertChange) (began, ended bool) {
	name, severity := alertName(c), c.Labels["severity"]
	at := slices.IndexFunc(i.Alerts, func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && a.Over.IsZero()
	})
	// The pager's list may be older than the end of an alert.
	isOver := i.has(func(a firedAlert) bool {
		return a.Name == name && a.Severity == severity && !a.Over.IsZero() && a.From.Sub(c.At).Abs() < time.Second // the clocks are read one after the other
	})
	switch {
	case c.Firing && isOver:
	case c.Firing && at < 0:
		i.Alerts, i.Ended = appendBounded(i.Alerts, newAlert(c), alertsKept), time.Time{}
		return true, false
	case c.Firing:
		a := &i.Alerts[at]
		a.Summary, a.Description, a.earlier = c.Annotations["summary"], c.Annotations["description"], false
	case at >= 0:
		i.Alerts[at].GoesOnAs = c.GoesOnAs
		i.end(at, c.At.Add(c.Lasted))
		return false, true
	}
	return false, false
}

// end ends an alert, and the incident with its last alert.
func (i *incident) end(alert int, at time.Time) {
	i.Alerts[alert].Over = at
	if !i.has(func(a firedAlert) bool { return a.Over.IsZero() }) {
		i.Ended = at
	}
}

func alertName(c AlertChange) string {
	return strings.TrimSpace(c.Labels["alertname"] + " " + c.Labels["slo"])
}

func newAlert(c AlertChange) firedAlert {
	a := firedAlert{
		Name: alertName(c), Severity: c.Labels["severity"], From: c.At, SLI: c.Labels["sli"],
		Summary: c.Annotations["summary"], Description: c.Annotations["description"],
	}
	switch c.Labels["alertname"] {
	case rules.AlertRegression:
		a.SLI = rules.SLILatency
	case rules.AlertTargetDown:
		a.SLI = rules.SLIAvailability
	}
	if link := c.Annotations["dashboard_url"]; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		a.Dashboard = link
	}
	return a
}

func (i *incident) count(o probe.Outcome, cut bool) {
	i.Turns++
	i.Cut.count(o, cut)
	if o.Failed() {
		i.Failed++
		at := slices.IndexFunc(i.Reasons, func(r failureReason) bool { return r.Outcome == o })
		if at < 0 {
			at, i.Reasons = len(i.Reasons), append(i.Reasons, failureReason{Outcome: o})
		}
		i.Reasons[at].Turns++
	}
}

func (i *incident) countBad(objectives []string) {
	for _, name := range objectives {
		if i.Bad == nil {
			i.Bad = map[string]int{}
		}
		i.Bad[name]++
	}
}

// missed returns the names of the objectives for which a turn is bad.
func missed(objectives []slo.Objective, r probe.Result) (names []string) {
	for _, o := range objectives {
		if o.Judge(&r) == slo.Bad {
			names = append(names, o.Name)
		}
	}
	return names
}

// missedBySession returns the names of the objectives for which a session is bad.
func missedBySession(objectives []slo.Objective, c probe.Conversation) (names []string) {
	for _, o := range objectives {
		if o.JudgeSession(&c) == slo.Bad {
			names = append(names, o.Name)
		}
	}
	return names
}

// add keeps a turn if it is among the worst.
func (i *incident) add(t scored) {
	at, _ := slices.BinarySearchFunc(i.Worst, t.Score, func(a scored, score float64) int { return cmp.Compare(score, a.Score) })
	if at < worstKept {
		i.Worst = slices.Insert(i.Worst, at, t)[:min(len(i.Worst)+1, worstKept)]
	}
}

type incidents struct {
	// changed receives a token after an alert has started or ended.
	changed chan struct{}

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
		i = &incident{About: about, Started: c.At, ID: s.newID(about, c.At)}
		s.makeRoom(incidentsKept - 1)
		s.all = append(s.all, i)
		if !c.Firing { // the process that saw its start was killed before it saved it
			i.Alerts = append(i.Alerts, newAlert(c))
			i.extendBack(c.At, i.Alerts[0].SLI, before())
		}
	}
	began, ended := i.apply(c)
	if began {
		i.extendBack(c.At, i.Alerts[len(i.Alerts)-1].SLI, before())
	}
	i.unsaved = true
	if began || ended {
		s.tell()
	}
}

// tell asks for a save of the incidents.
func (s *incidents) tell() {
	select {
	case s.changed <- struct{}{}:
	default: // all unsaved incidents will be saved
	}
}

// makeRoom drops the oldest finished incidents above a number. The number of open incidents is bounded by the
// number of subjects. The caller holds mu.
func (s *incidents) makeRoom(most int) {
	excess := len(s.all) - most
	s.all = slices.DeleteFunc(s.all, func(i *incident) bool {
		if excess <= 0 || i.Ended.IsZero() {
			return false
		}
		excess--
		return true
	})
}

// newID returns the id of an incident in addresses. The caller holds mu.
func (s *incidents) newID(about subject, at time.Time) string {
	inAddress := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	id := at.UTC().Format("20060102-1504") + "-" + strings.Trim(strings.Map(inAddress, strings.ToLower(bound.Clip(about.String(), 40))), "-")
	for n := 2; slices.ContainsFunc(s.all, func(o *incident) bool { return o.ID == id }); n++ {
		id = fmt.Sprintf("%s.%d", strings.TrimSuffix(id, fmt.Sprint(".", n-1)), n)
	}
	return id
}

// observe adds a turn to the open incident of its job.
func (s *incidents) observe(t scored, missed []string) {
	s.update(t.Key(), func(i *incident) {
		i.count(t.Outcome, t.IsCut())
		i.countBad(missed)
		i.add(t)
	})
}

// observeSession counts a session for the open incident of its job.
func (s *incidents) observeSession(c probe.Conversation, missed []string) {
	if len(missed) > 0 {
		s.update(c.Key(), func(i *incident) { i.countBad(missed) })
	}
}

// recordEffect records an effect on the open incident of a job.
func (s *incidents) recordEffect(job probe.Key, e effect) {
	s.update(job, func(i *incident) {
		if e.Ratio > i.Peak.Ratio {
			i.Peak = e
		}
		slow := i.has(func(a firedAlert) bool { return a.SLI == rules.SLILatency })
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
		i.unsaved = true
	}
}

// list copies the incidents, with all times on the clock of now: pages first, then tickets, then finished ones,
// the latest first in each group.
func (s *incidents) list(now time.Time) []incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []incident
	for _, i := range slices.Backward(s.all) {
		copied := *i
		copied.Alerts, copied.Worst, copied.Reasons = slices.Clone(i.Alerts), slices.Clone(i.Worst), slices.Clone(i.Reasons)
		copied.Bad = maps.Clone(i.Bad)
		for _, t := range []*time.Time{&copied.Started, &copied.Since, &copied.Ended} {
			*t = onClockOf(now, *t)
		}
		for j := range copied.Alerts {
			a := &copied.Alerts[j]
			a.From, a.Over = onClockOf(now, a.From), onClockOf(now, a.Over)
		}
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
