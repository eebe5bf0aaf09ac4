package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// traces collects the trace ids of the requests to a server.
type traces struct {
	mu   sync.Mutex
	seen map[string]bool
}

// before records the trace id of each request to next.
func (s *traces) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parts := strings.Split(r.Header.Get("Traceparent"), "-"); len(parts) == 4 {
			s.mu.Lock()
			s.seen[parts[1]] = true
			s.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

func (s *traces) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[id]
}

// TestPagesNameATraceOfTheServer follows a trace id from the request header over /metrics
// to the alert that an Alertmanager receives.
func TestPagesNameATraceOfTheServer(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for a quarter of a minute; make test-long runs it")
	}
	t.Parallel()
	came := &traces{seen: map[string]bool{}}
	d := simulate.New(simulate.Options{Seed: 1, Incidents: []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 1}}})
	server := httptest.NewServer(came.before(d))
	defer server.Close()
	received := make(chan string, 100)
	am := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alerts []struct{ Annotations map[string]string }
		if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
			t.Errorf("the Alertmanager cannot read the alerts: %v", err)
		}
		for _, a := range alerts {
			select {
			case received <- a.Annotations["description"]:
			default: // the channel is full; the test has enough
			}
		}
	}))
	defer am.Close()
	file := configFor(t, "/v1", map[string]string{"a": server.URL})
	withAlerting(t, file, "alerting: {interval: 1s, alertmanagers: [{url: \""+am.URL+"\"}]}\n")
	p := sidecarRun(t, file)

	exported := ""
	p.until("a bad turn", func(s map[string]float64) bool {
		for name := range s {
			if strings.HasPrefix(name, "synthetic_bad_turn_timestamp_seconds{") {
				exported = name
			}
		}
		return exported != ""
	})
	id := regexp.MustCompile(`trace_id="([0-9a-f]{32})"`).FindStringSubmatch(exported)
	if id == nil || !came.has(id[1]) || !strings.Contains(exported, `reason="http_5xx"`) {
		t.Errorf("%s is exported, and no request carried that trace", exported)
	}
	named := regexp.MustCompile(`One bad turn: trace ([0-9a-f]{32}) \((first|followup) turn, http_5xx, `)
	for timeout := time.After(60 * time.Second); ; {
		select {
		case text := <-received:
			if m := named.FindStringSubmatch(text); m != nil && came.has(m[1]) {
				return
			}
			t.Logf("a page names no trace: %s", text)
		case <-timeout:
			t.Fatalf("no page named a trace that the server knows; log:\n%s", p.err)
		}
	}
}
