package serverside

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"synthetic/internal/probe/target"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDescribe(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			if r.Header.Get("Authorization") != "Bearer hunter2" || r.Header.Get("X-Tenant") != "probe" {
				http.Error(w, "who are you", http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `{"data":[{"id":"other"},{"id":"llama","root":"meta/llama-70b","max_model_len":8192}]}`)
		case "/version":
			fmt.Fprint(w, `{"version":"0.14.1"}`)
		case "/metrics":
			fmt.Fprint(w, "# TYPE vllm:cache_config_info gauge\n"+
				`vllm:cache_config_info{block_size="16",engine="0",gpu_memory_utilization="0.9",num_gpu_blocks_override="None"} 1`+"\n"+
				"vllm:generation_tokens_total 1\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(target.Target{
		BaseURL: server.URL + "/v1", Model: "llama", Key: target.Credential{File: key}, Headers: map[string]string{"X-Tenant": "probe"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := c.Describe(t.Context(), []string{server.URL + "/metrics"})
	want := []Setting{
		{Name: "Model", Value: "llama", Source: "/v1/models"},
		{Name: "Model root", Value: "meta/llama-70b", Source: "/v1/models"},
		{Name: "max-model-len", Value: "8192", Source: "/v1/models"},
		{Name: "Server version", Value: "0.14.1", Source: "/version"},
		{Name: "block size", Value: "16", Source: "/metrics"},
		{Name: "gpu memory utilization", Value: "0.9", Source: "/metrics"},
		{Name: "Server metrics", Value: "vLLM, 2 of 15 families", Source: "/metrics"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
}

// TestKeyStaysHome checks that a metrics endpoint on another host gets neither the key nor the headers.
func TestKeyStaysHome(t *testing.T) {
	heard := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header.Clone() }))
	defer other.Close()
	t.Setenv("SERVERSIDE_TEST_KEY", "hunter2")
	c, err := NewClient(target.Target{
		BaseURL: "http://127.0.0.1:1/v1", Key: target.Credential{Env: "SERVERSIDE_TEST_KEY"}, Headers: map[string]string{"X-Tenant": "probe"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Scrape(t.Context(), other.URL+"/metrics"); err != nil {
		t.Fatal(err)
	}
	if seen := <-heard; seen.Get("Authorization") != "" || seen.Get("X-Tenant") != "" {
		t.Errorf("a foreign host was sent %v", seen)
	}
}

// TestScrapeErrors checks that an error names the address and the cause.
func TestScrapeErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			fmt.Fprint(w, "<html>not metrics")
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	c, err := NewClient(target.Target{BaseURL: server.URL + "/v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for path, want := range map[string]string{"/metrics": "404", "/broken": "not in the Prometheus text format"} {
		if _, err := c.Scrape(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error with %q", path, err, want)
		}
	}
	if got := c.Describe(t.Context(), []string{server.URL + "/metrics"}); got != nil {
		t.Errorf("a silent deployment is described as %v", got)
	}
}
