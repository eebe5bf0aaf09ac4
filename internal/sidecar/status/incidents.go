package status

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe"
)

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
		id = fmt.Sprintf("%s.%d", strings.TrimSuffix(id, fmt.Sprint(".", n-1)), n)
	}
	return id
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
