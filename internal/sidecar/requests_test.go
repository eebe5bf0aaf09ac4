package sidecar_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

const requestsConfig = `
targets:
  - {name: found, base_url: http://deployment/v1, server_metrics: {}}
workloads:
  - {name: chat, max_output_tokens: 60}
traffic:
  - {targets: [found], workload: chat, arrival: {process: poisson, rate: 0.1}}
`

// TestEveryRequestIsCounted compares the requests that a deployment received in ten minutes with those
// in the metrics: each is a turn, or one of the other requests of its path.
func TestEveryRequestIsCounted(t *testing.T) {
	cfg, _ := stage.Rules(t, requestsConfig)
	synctest.Test(t, func(t *testing.T) {
		deployment, wire := simulate.New(healthyOptions()), simulate.NewPipes()
		var mu sync.Mutex
		received, inFlight := map[string]float64{}, 0
		defer simulate.Serve(wire, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			received[r.URL.Path]++
			inFlight++
			mu.Unlock()
			body, err := io.ReadAll(r.Body)
			if r.Body = io.NopCloser(bytes.NewReader(body)); err == nil && bytes.Contains(body, []byte(`"max_tokens"`)) {
				http.Error(w, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter","type":"invalid_request_error"}}`, http.StatusBadRequest)
			} else {
				deployment.ServeHTTP(w, r)
			}
			mu.Lock()
			inFlight--
			mu.Unlock()
		}))()
		s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Minute, Dial: wire.Dial})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(cfg); err != nil {
			t.Fatal(err)
		}
		stop := stage.Run(t, s)
		idle := func() bool {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return inFlight == 0
		}
		for time.Sleep(10 * time.Minute); !idle(); time.Sleep(time.Second) {
		}
		counted, purposes := map[string]float64{}, map[string]float64{}
		paths := map[string]string{"models": "/v1/models", "server_metrics": "/metrics"}
		for _, m := range stage.Samples(t, s) {
			switch purpose := m.Labels.Get("purpose"); {
			case m.Labels.Get("__name__") == "synthetic_turns_started_total":
				counted["/v1/chat/completions"] += m.Value
			case purpose != "" && paths[purpose] != "":
				counted[paths[purpose]] += m.Value
				purposes[m.Labels.Get("target")+" "+purpose] = m.Value
			case purpose != "":
				counted["/v1/chat/completions"] += m.Value
				purposes[m.Labels.Get("target")+" "+purpose] = m.Value
			}
		}
		mu.Lock()
		for path, n := range received {
			if counted[path] != n {
				t.Errorf("%s: %v requests were received, %v are counted", path, n, counted[path])
			}
		}
		mu.Unlock()
		for _, want := range []string{"found models", "found server_metrics", "found refused_field"} {
			if purposes[want] == 0 {
				t.Errorf("no request for %s among %v", want, purposes)
			}
		}
		stop()
	})
}
