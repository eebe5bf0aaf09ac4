package stage

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Letterbox is an Alertmanager that records the alerts it receives.
type Letterbox struct {
	mu   sync.Mutex
	dead bool // alerts that arrive now are from a killed process
	got  []Alert
	// Arrived receives each alert if it has room; nil in virtual time.
	Arrived chan Alert
}

// Alert is a received alert.
type Alert struct {
	Labels           map[string]string
	StartsAt, EndsAt time.Time
	At               time.Time // time of arrival
}

// Firing reports whether the alert had not ended when it arrived.
func (a Alert) Firing() bool { return a.EndsAt.After(a.At) }

func (b *Letterbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var alerts []Alert
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		panic(err) // the server logs the panic, and the test receives no alert
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range alerts {
		a.At = time.Now()
		if b.dead {
			continue
		}
		b.got = append(b.got, a)
		select {
		case b.Arrived <- a:
		default:
		}
	}
}

// Mark sets whether alerts that arrive now are from a killed process.
func (b *Letterbox) Mark(dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = dead
}

// All returns the received alerts.
func (b *Letterbox) All() []Alert {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

// Of returns the received alerts of a name, grouped by their labels.
func (b *Letterbox) Of(name string) map[string][]Alert {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]Alert{}
	for _, a := range b.got {
		if a.Labels["alertname"] == name {
			labels := strings.TrimSpace(a.Labels["turn"] + " " + a.Labels["signal"] + a.Labels["slo"])
			out[labels] = append(out[labels], a)
		}
	}
	return out
}

// awaited is how long a page may take. A prober that was late on a busy machine sends no
// pages for three minutes.
const awaited = 5 * time.Minute

// Await waits for an alert that ok accepts. It returns the zero value after a timeout.
func (b *Letterbox) Await(t *testing.T, ok func(Alert) bool) Alert {
	t.Helper()
	for timeout := time.After(awaited); ; {
		select {
		case a := <-b.Arrived:
			if ok(a) {
				return a
			}
		case <-timeout:
			t.Errorf("the Alertmanager received no such alert within %v", awaited)
			return Alert{}
		}
	}
}

// Drain discards the alerts in Arrived.
func (b *Letterbox) Drain() {
	for len(b.Arrived) > 0 {
		<-b.Arrived
	}
}
