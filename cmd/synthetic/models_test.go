package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestModels: the listed models of a target are followed while the sidecar runs. Each is a
// target of its own; if the list cannot be read, the models stay.
func TestModels(t *testing.T) {
	d, _ := fastDeployment(t)
	var listed atomic.Value
	listed.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			d.ServeHTTP(w, r)
			return
		}
		names := listed.Load().(string)
		if names == "" {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q}]}`, names)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := fmt.Sprintf("targets: [{name: m, base_url: %q, models: \"*\", models_interval: 1s}]\ntraffic: [{arrival: {process: constant, rate: 2}}]\n", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sidecarRun(t, file)
	probed := func(s map[string]float64, target string) bool {
		_, found := sum(s, "synthetic_turns_total", `target="`+target+`"`)
		return found
	}
	p.until("the target before its models are known", func(s map[string]float64) bool {
		return probed(s, "m") && s[`synthetic_models_listed_timestamp_seconds{target="m"}`] == 0
	})
	listed.Store("simulated-chat")
	s := p.until("turn of the model", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total", `target="m/simulated-chat"`)
		return n > 0 && !probed(s, "m")
	})
	if n, _ := sum(s, "synthetic_target_info", `model="simulated-chat"`, `target="m/simulated-chat"`); n != 1 || s[`synthetic_models_probed{target="m"}`] != 1 {
		t.Errorf("the reason for the failed list is %v", n)
	}
	listed.Store("")
	since := s[`synthetic_models_listed_timestamp_seconds{target="m"}`]
	p.err.find(t, `(Cannot list the models)[^\n]*known_since=20`)
	if s := p.series(); !probed(s, "m/simulated-chat") || s[`synthetic_models_listed_timestamp_seconds{target="m"}`] < since {
		t.Error("a failed list ended the job")
	}
	listed.Store("another")
	p.until("the other model only", func(s map[string]float64) bool {
		return probed(s, "m/another") && !probed(s, "m/simulated-chat")
	})
}
