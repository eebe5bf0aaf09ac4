package status

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// incidents are the known incidents, oldest first.
type incidents struct {
	mu  sync.Mutex
	all []*incident
}

// open returns the incident of a subject that continues, or may be continued at a time; nil if
// there is none. The caller holds mu.
func (s *incidents) open(about subject, at time.Time) *incident {
	for _, i := range slices.Backward(s.all) {
		if i.About == about && (i.Ended.IsZero() || at.Sub(i.Ended) < reopens) {
			return i
		}
	}
	return nil
}

// take records a change of an alert. before returns the history of its job.
func (s *incidents) take(c AlertChange, before func() past) {
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
	if i.note(c) {
		i.reach(c.At, i.Alerts[len(i.Alerts)-1].sli, before())
	}
}

// makeRoom drops the oldest finished incident. The number of open ones is bounded by that of
// subjects. The caller holds mu.
func (s *incidents) makeRoom() {
	over := func(i *incident) bool { return !i.Ended.IsZero() }
	if at := slices.IndexFunc(s.all, over); at >= 0 && len(s.all) >= incidentsKept {
		s.all = slices.Delete(s.all, at, at+1)
	}
}

// marks returns the starts of a target's incidents, oldest first.
func (s *incidents) marks(target string, within span) (out []Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.all {
		if i.About.Target == target && !i.Started.Before(within.from) && !i.Started.After(within.to) {
			out = append(out, Mark{At: i.Started, Kind: MarkIncident, Target: target, Text: i.Alerts[0].Name})
		}
	}
	return out
}

// newID returns the id of an incident in addresses. The caller holds mu.
func (s *incidents) newID(about subject, at time.Time) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	id := at.UTC().Format("20060102-1504") + "-" + strings.Trim(strings.Map(plain, strings.ToLower(clip(about.String(), 40))), "-")
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

// saw records an effect.
func (s *incidents) saw(job probe.Key, e effect) {
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

// list copies them, those that go on first, the latest first among each.
func (s *incidents) list() []incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []incident
	for _, i := range slices.Backward(s.all) {
		one := *i
		one.Alerts, one.Worst, one.Reasons = slices.Clone(i.Alerts), slices.Clone(i.Worst), slices.Clone(i.Reasons)
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
