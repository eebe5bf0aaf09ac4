package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/turnlog"
)

// Names of the files beside the state file.
const (
	DaysFile      = ".days"
	IncidentsFile = ".incidents"
)

// Report holds what a review shows.
type Report struct {
	From, To time.Time
	// Source says in words where the figures are from.
	Source string
	// Jobs are sums over the whole time.
	Jobs []Day
	// Incidents of that time, the oldest first.
	Incidents []Incident
}

// Incident is the part of a saved incident that a review shows.
type Incident struct {
	ID    string `json:"id"`
	About struct {
		probe.Key
		Other string `json:"other"`
	} `json:"about"`
	// Since is the start of the fault, Ended the end of the last alert; zero while one fires.
	Since    time.Time `json:"since"`
	Ended    time.Time `json:"ended"`
	Alerts   []Alert   `json:"alerts"`
	Headline string    `json:"headline"`
	// Bad counts bad turns by objective.
	Bad map[string]int `json:"bad"`
	// Judged is "false" after somebody has marked a false page, else "".
	Judged string `json:"judged"`
	// alertsOnly is true if only the alerts are known, so that Since is the start of the first one.
	alertsOnly bool
}

type Alert struct {
	Name     string    `json:"name"`
	Severity string    `json:"severity"`
	From     time.Time `json:"from"`
}

// Subject is the target, or what else the incident is about.
func (i Incident) Subject() string { return cmp.Or(i.About.Target, i.About.Other) }

// Paged returns when the incident first paged, and false if it did not.
func (i Incident) Paged() (at time.Time, ok bool) {
	for _, a := range i.Alerts {
		if a.Severity == "page" && (!ok || a.From.Before(at)) {
			at, ok = a.From, true
		}
	}
	return at, ok
}

// IsFalse reports whether somebody has marked the incident as a false page.
func (i Incident) IsFalse() bool { return i.Judged == "false" }

// Detection is the time from the start of the fault to the first page.
func (i Incident) Detection() (d probe.Opt[time.Duration]) {
	if at, ok := i.Paged(); ok && !i.alertsOnly {
		return probe.Some(max(at.Sub(i.Since), 0))
	}
	return d
}

// Repair is the time from the start of the fault to the end of the last alert.
func (i Incident) Repair() (d probe.Opt[time.Duration]) {
	if !i.Ended.IsZero() {
		return probe.Some(i.Ended.Sub(i.Since))
	}
	return d
}

// FromState reads the days of a sidecar's state. The time that it covers begins with a whole day in UTC.
func FromState(stateFile string, since time.Duration, now time.Time) (*Report, error) {
	c, err := readDays(stateFile, now)
	if err != nil {
		return nil, err
	}
	return newReport("the days that the sidecar has kept in "+stateFile+DaysFile, c.Days(""), since, now), nil
}

// FromTurns counts the turns and sessions of a log. The time ends with the last turn and begins with a whole day in
// UTC. price returns the price of a job's tokens, nil for none. An error says if turns lack the trace IDs that an
// objective on sessions needs.
func FromTurns(log *turnlog.Log, objectives []slo.Objective, price func(probe.Key) *workload.Price, since time.Duration) (*Report, error) {
	days, last := map[dayKey]*Day{}, time.Time{}
	day := func(job probe.Key, end time.Time) *Day {
		key := dayKey{DateOf(end), job}
		if days[key] == nil {
			days[key] = &Day{Date: key.date, Target: job.Target, Workload: job.Workload}
		}
		return days[key]
	}
	turns := log.Read()
	defer turns.Close()
	err := turnlog.Next(turns.Next).Each(func(t *turnlog.Turn) error {
		r := t.Result()
		day(r.Key(), r.End).Count(r, objectives, price(r.Key()))
		if r.End.After(last) {
			last = r.End
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Day
	for _, d := range days {
		all = append(all, *d)
	}
	return newReport("a log of turns", all, since, last), nil
}

func newReport(source string, days []Day, since time.Duration, to time.Time) *Report {
	from := to.Add(-since).UTC().Truncate(24 * time.Hour)
	days = slices.DeleteFunc(days, func(d Day) bool { return d.Date < DateOf(from) })
	return &Report{From: from, To: to.UTC(), Source: source, Jobs: Sum(days)}
}

// ReadIncidents takes the incidents that the sidecar has saved beside its state file.
func (r *Report) ReadIncidents(stateFile string) error {
	path := stateFile + IncidentsFile
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is no file before the first incident
		return fmt.Errorf("reading the incidents: %w", err)
	}
	byID := map[string]Incident{}
	for line := range bytes.Lines(complete(text)) {
		var i Incident
		if err := json.Unmarshal(line, &i); err != nil {
			return fmt.Errorf("reading the incidents in %s: %w", path, err)
		}
		byID[i.ID] = i
	}
	r.Incidents = nil
	for _, i := range byID {
		if i.Since.Before(r.To) && (i.Ended.IsZero() || i.Ended.After(r.From)) {
			r.Incidents = append(r.Incidents, i)
		}
	}
	r.sortIncidents()
	return nil
}

func (r *Report) sortIncidents() {
	slices.SortFunc(r.Incidents, func(a, b Incident) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// Tokens returns the tokens of all jobs, and their cost.
func (r *Report) Tokens() (sum workload.Tokens, cost float64) {
	for _, d := range r.Jobs {
		sum, cost = sum.Plus(d.Tokens), cost+d.Cost
	}
	return sum, cost
}

// complete returns the complete lines of a file that a process is writing.
func complete(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }
