package status

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// incidentAge is the age at which a finished incident is forgotten.
const incidentAge = 90 * 24 * time.Hour

// savedIncident is an incident in the file of incidents.
type savedIncident struct {
	incident
	// Headline is for readers of the file that cannot derive it.
	Headline string `json:"headline"`
}

// IncidentsChanged receives a token after an alert of an incident has started or ended.
func (p *Page) IncidentsChanged() <-chan struct{} { return p.incidents.changed }

// SaveIncidents returns a line of JSON for each incident that has changed since the last call or, with all, for each
// incident, finished ones first. Its times are wall times.
func (p *Page) SaveIncidents(all bool) []byte {
	now := p.options.Now()
	p.incidentsNow() // adds what the pager lists
	if now.Sub(p.started) >= reopens {
		p.incidents.endForgotten(p.started)
	}
	p.incidents.forget(now)
	unsaved := p.incidents.takeUnsaved()
	var out bytes.Buffer
	for _, i := range slices.Backward(p.incidents.list(now)) {
		if !all && !unsaved[i.ID] {
			continue
		}
		headline := i.Headline()
		// Encode ends the line. It fails for values such as NaN, which an incident has not.
		_ = json.NewEncoder(&out).Encode(savedIncident{i, headline})
	}
	return out.Bytes()
}

// RestoreIncidents takes over the incidents of an earlier process from lines of SaveIncidents. The last line of an
// incident is valid. It skips lines that it cannot read, and returns an error that names the first.
func (p *Page) RestoreIncidents(text []byte) (err error) {
	byID := map[string]*incident{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		saved := savedIncident{}
		bad := json.Unmarshal(line, &saved)
		if bad == nil && (saved.ID == "" || len(saved.Alerts) == 0) {
			bad = errors.New("it has no id or no alert")
		}
		if bad != nil {
			if err == nil {
				err = fmt.Errorf("line %d: %w", number, bad)
			}
			continue
		}
		byID[saved.ID] = &saved.incident
	}
	p.incidents.restore(byID)
	p.incidents.forget(p.options.Now())
	return err
}

// JudgeIncident records whether people think that an incident was a false page. It returns the target ("" for an
// incident of several) and the time of the incident, and reports whether there is one.
func (p *Page) JudgeIncident(id string, isFalse bool) (target string, since, until time.Time, known bool) {
	s := &p.incidents
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.all, func(i *incident) bool { return i.ID == id })
	if at < 0 {
		return "", since, until, false
	}
	i := s.all[at]
	i.Judged = map[bool]string{true: "false"}[isFalse]
	i.unsaved = true
	s.tell()
	if until = i.Ended; until.IsZero() {
		until = p.options.Now()
	}
	return i.About.Target, i.Since, until, true
}

func (s *incidents) restore(saved map[string]*incident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range saved {
		for j := range i.Alerts {
			i.Alerts[j].earlier = i.Alerts[j].Over.IsZero()
		}
		s.all = append(s.all, i)
	}
	slices.SortFunc(s.all, func(a, b *incident) int { return a.Started.Compare(b.Started) })
}

// endForgotten ends the alerts of an earlier process that the pager has not reported since. Their end is not known; it
// is taken to be the start of this process.
func (s *incidents) endForgotten(started time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.all {
		for j, a := range i.Alerts {
			if a.earlier && a.Over.IsZero() {
				i.end(j, started)
				i.unsaved = true
			}
		}
	}
}

// forget drops finished incidents that are old.
func (s *incidents) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(i *incident) bool {
		return !i.Ended.IsZero() && now.Sub(i.Ended) > incidentAge
	})
	s.makeRoom(incidentsKept)
}

// takeUnsaved returns the ids of the incidents that have changed since its last call.
func (s *incidents) takeUnsaved() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]bool{}
	for _, i := range s.all {
		if i.unsaved {
			out[i.ID], i.unsaved = true, false
		}
	}
	return out
}
