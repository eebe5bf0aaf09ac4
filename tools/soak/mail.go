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
	"time"
)

// mailbox is an Alertmanager that records each firing period of each alert.
type mailbox struct {
	alarm func(string)
	begin time.Time

	mu    sync.Mutex
	pages map[string]*page
}

// page is one firing period of an alert. Times are since the start of the run.
type page struct {
	Alert, Target, Severity string
	Labels                  string
	Starts, Arrived         float64
}

func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	var alerts []struct {
		Labels   map[string]string
		StartsAt time.Time
	}
	if err := json.Unmarshal(body, &alerts); err != nil {
		m.alarm("the Alertmanager received something other than a list of alerts: " + err.Error())
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range alerts {
		m.take(a.Labels, a.StartsAt)
	}
}

// take records an alert. Its start identifies the firing period.
func (m *mailbox) take(labels map[string]string, starts time.Time) {
	key := fmt.Sprint(labels, starts.UnixMilli())
	if m.pages[key] == nil {
		m.pages[key] = &page{Alert: labels["alertname"], Target: labels["target"], Severity: labels["severity"], Labels: fmt.Sprint(labels),
			Starts: starts.Sub(m.begin).Seconds(), Arrived: time.Since(m.begin).Seconds()}
	}
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
