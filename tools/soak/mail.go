//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// mailbox is the Alertmanager: it remembers each spell of each alert.
type mailbox struct {
	secret *keyring
	alarm  func(string)
	begin  time.Time
	mute   atomic.Bool

	mu    sync.Mutex
	pages map[string]*page
}

// page is a spell of an alert. Times are since the start of the run.
type page struct {
	Alert, Target, Severity string
	Labels                  string
	Starts, Told, Ended     float64
	Resolved                bool
}

func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil || m.mute.Load() {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	if m.secret.told(string(body)) {
		m.alarm("a key in an alert")
	}
	var told []struct {
		Labels           map[string]string
		StartsAt, EndsAt time.Time
	}
	if err := json.Unmarshal(body, &told); err != nil {
		m.alarm("the Alertmanager was sent what is no list of alerts: " + err.Error())
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range told {
		m.take(a.Labels, a.StartsAt, a.EndsAt)
	}
}

// take notes an alert. Its start says which spell it is.
func (m *mailbox) take(labels map[string]string, starts, ends time.Time) {
	var names []string
	for name, v := range labels {
		names = append(names, name+"="+v)
	}
	slices.Sort(names)
	key := fmt.Sprint(strings.Join(names, ","), starts.UnixMilli())
	p := m.pages[key]
	if p == nil {
		p = &page{Alert: labels["alertname"], Target: labels["target"], Severity: labels["severity"], Labels: strings.Join(names, ", "),
			Starts: starts.Sub(m.begin).Seconds(), Told: time.Since(m.begin).Seconds()}
		m.pages[key] = p
	}
	if p.Resolved = !ends.After(time.Now()); p.Resolved {
		p.Ended = ends.Sub(m.begin).Seconds()
	}
}

// all are the spells, in the order of their beginnings.
func (m *mailbox) all() []page {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []page
	for _, p := range m.pages {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b page) int {
		return strings.Compare(fmt.Sprintf("%09.1f%s", a.Starts, a.Labels), fmt.Sprintf("%09.1f%s", b.Starts, b.Labels))
	})
	return out
}
