package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServersFollowTheConfiguration: after a reload, the sidecar starts to read a server's
// metrics, keeps trying while they cannot be read, and stops after another reload.
func TestServersFollowTheConfiguration(t *testing.T) {
	_, deployment := fastDeployment(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("vllm:spec_decode_num_draft_tokens_total 900\nvllm:spec_decode_num_accepted_tokens_total 300\n"))
	}))
	defer page.Close()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	targets := func(extra string) { writeConfig(t, file, extra, map[string]string{"a": deployment.URL}) }
	targets("")
	p := sidecarRun(t, file, "--web.enable-lifecycle")
	if series := p.series(); strings.Contains(strings.Join(keys(series), " "), "synthetic_server_") {
		t.Errorf("series of server metrics without server_metrics: %v", keys(series))
	}
	reload := func() {
		t.Helper()
		if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusOK {
			t.Fatalf("reloading answers %d: %s", code, body)
		}
	}
	up := func(want float64) func(map[string]float64) bool {
		return func(s map[string]float64) bool {
			v, ok := sum(s, "synthetic_server_metrics_up", `target="a"`)
			return ok && v == want
		}
	}
	targets(", server_metrics: {urls: ['" + page.URL + "/metrics']}")
	reload()
	p.until("metrics that were read", up(1))
	targets(", server_metrics: {urls: ['" + page.URL + "/moved']}")
	reload()
	p.until("metrics that could not be read", up(0))
	p.err.find(t, `(Cannot read the server's metrics.*/moved)`)

	if err := os.WriteFile(file, []byte("targets: [{base_url: http://x, server_metrics: {urls: [x]}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _ := p.do(http.MethodPost, "/-/reload"); code == http.StatusOK {
		t.Error("an invalid address of a page was accepted")
	}
	p.until("the previous series", up(0))
	targets("")
	reload()
	p.until("no series of the server", func(s map[string]float64) bool {
		_, ok := sum(s, "synthetic_server_metrics_up")
		return !ok
	})
}

func keys(m map[string]float64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}
