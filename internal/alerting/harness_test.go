package alerting

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// quick has one alert that fires while the gauge is up.
const quick = `
groups:
  - name: quick
    interval: 1s
    rules:
      - record: test:up:max
        expr: max by (job) (test_up)
      - alert: Up
        expr: test:up:max > 0
        labels: {severity: page}
        annotations: {summary: "up at {{ $value }}"}
`

// gauge is a registry with one gauge.
type gauge struct {
	registry *prometheus.Registry
	up       *prometheus.GaugeVec
}

func newGauge(t *testing.T) *gauge {
	t.Helper()
	g := &gauge{prometheus.NewRegistry(), prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "test_up", Help: "Up."}, []string{"target"})}
	g.registry.MustRegister(g.up)
	return g
}

func (g *gauge) set(v float64) { g.up.WithLabelValues("a").Set(v) }

// posted is an alert that an Alertmanager received.
type posted struct {
	Labels, Annotations map[string]string
	StartsAt, EndsAt    time.Time
	GeneratorURL        string
	at                  time.Time
}

func (p posted) firing() bool { return p.EndsAt.After(p.at) }

// receiver is an Alertmanager that records the alerts it receives. A test can make it fail.
type receiver struct {
	mu   sync.Mutex
	got  []posted
	fail int // the status of each answer; 0 means success
	wake chan struct{}
}

func newReceiver() *receiver { return &receiver{wake: make(chan struct{}, 1)} }

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var alerts []posted
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = json.Unmarshal(body, &alerts)
	}
	if err != nil || req.Method != http.MethodPost || req.URL.Path != "/prefix/api/v2/alerts" {
		http.Error(w, "not a request to Alertmanager's API", http.StatusNotFound)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != 0 {
		http.Error(w, "no", r.fail)
		return
	}
	for _, a := range alerts {
		a.at = time.Now()
		r.got = append(r.got, a)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *receiver) all() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]posted(nil), r.got...)
}

// await waits until a received alert satisfies ok.
func (r *receiver) await(t *testing.T, what string, ok func(posted) bool) posted {
	t.Helper()
	for timeout := time.After(30 * time.Second); ; {
		for _, p := range r.all() {
			if ok(p) {
				return p
			}
		}
		select {
		case <-r.wake:
		case <-timeout:
			t.Fatalf("the Alertmanager did not receive %s; it received %+v", what, r.all())
		}
	}
}

func serve(t *testing.T, r *receiver) string {
	t.Helper()
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s.URL + "/prefix/"
}
