//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// mailbox is an Alertmanager that records each firing period of each alert.
type mailbox struct {
	secret *keyring
	alarm  func(string)
	begin  time.Time
	mute   atomic.Bool

	mu    sync.Mutex
	pages map[string]*page
}

// page is one firing period of an alert. Times are since the start of the run. Ends is the end that
// the last message named: of an alert that fires, a time by which the next message comes.
type page struct {
	Alert, Target, Severity string
	Labels                  string
	Starts, Arrived, Ends   float64
}

func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil || m.mute.Load() {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	if m.secret.leaks(string(body)) {
		m.alarm("a key in an alert")
	}
	var alerts []struct {
		Labels           map[string]string
		StartsAt, EndsAt time.Time
	}
	if err := json.Unmarshal(body, &alerts); err != nil {
		m.alarm("the Alertmanager received something other than a list of alerts: " + err.Error())
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range alerts {
		m.take(a.Labels, a.StartsAt, a.EndsAt)
	}
}

// take records an alert. Its start identifies the firing period.
func (m *mailbox) take(labels map[string]string, starts, ends time.Time) {
	key := fmt.Sprint(labels, starts.UnixMilli())
	p := m.pages[key]
	if p == nil {
		p = &page{Alert: labels["alertname"], Target: labels["target"], Severity: labels["severity"], Labels: fmt.Sprint(labels),
			Starts: starts.Sub(m.begin).Seconds(), Arrived: time.Since(m.begin).Seconds()}
		m.pages[key] = p
	}
	p.Ends = ends.Sub(m.begin).Seconds()
}

// all returns the firing periods in the order of their starts.
func (m *mailbox) all() []page {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []page
	for _, p := range m.pages {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b page) int {
		return cmp.Or(cmp.Compare(a.Starts, b.Starts), cmp.Compare(a.Labels, b.Labels))
	})
	return out
}
