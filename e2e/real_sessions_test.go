//go:build e2e && real

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
)

// sessionConversations is how many conversations each router gets, of three turns each. With two
// workers, all of them reach one by chance once in 32,768 times.
const sessionConversations = 16

// TestRealSessions sends conversations through real routers in front of two simulated engines. With
// the session that a router expects, each conversation stays on one worker, and both workers are used.
// Without it, conversations change their worker, or all of them share one: vLLM's router hashes nothing then.
func TestRealSessions(t *testing.T) {
	workers := []string{worker(t, "worker-1"), worker(t, "worker-2")}
	hash := target.DefaultSession()
	for name, tt := range map[string]struct {
		session target.Session
		start   func(t *testing.T, dir, address string, workers []string) *process
	}{
		"haproxy-header": {hash, haproxyRouter("balance hdr(X-Session-ID)\n  hash-type consistent")},
		"nginx-header":   {hash, nginxRouter},
		"vllm-router":    {hash, vllmRouter},
		"litellm":        {target.Session{Header: "X-LiteLLM-Session-ID"}, liteLLMRouter},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := freeAddress(t)
			p := tt.start(t, t.TempDir(), address, workers)
			t.Cleanup(p.stop)
			await(t, patience, name+" to answer", func() error {
				_, err := get(t.Context(), "http://"+address+"/v1/models")
				return err
			}, p)
			kept, used := converseThrough(t, address, tt.session)
			if kept.Lost.Turns > 0 || kept.Kept.Turns != 2*sessionConversations || len(used) != 2 {
				t.Errorf("with a session: %s, workers %v", kept.Finding(), used)
			}
			without, used := converseThrough(t, address, target.Session{})
			if without.Lost.Turns == 0 && len(used) == 2 {
				t.Errorf("without a session: %s, workers %v", without.Finding(), used)
			}
			t.Logf("with a session: %s; without: %s", kept.Finding(), without.Finding())
		})
	}
}

// worker starts a simulated engine that names itself, and returns its address.
func worker(t *testing.T, name string) string {
	t.Helper()
	o := simulate.Options{Model: "m"}
	o.Answer.Median, o.FirstToken.Median, o.InterToken.Median = 5, time.Millisecond, time.Millisecond
	d := simulate.New(o)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Inference-Pod", name)
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return strings.TrimPrefix(s.URL, "http://")
}

// converseThrough holds conversations with a router. It returns how many turns changed the worker, and
// the conversations of each worker.
func converseThrough(t *testing.T, address string, s target.Session) (sum probe.SessionCounts, used map[string]int) {
	t.Helper()
	p, err := probe.New(probe.Options{
		Target: target.Target{
			Name: "router", BaseURL: "http://" + address + "/v1", Model: "m", Connection: target.PerConversation,
			Session: s, Service: "chat",
		},
		Workload: workload.Spec{Name: "w", MaxOutputTokens: 8, Timeouts: workload.Timeouts{FirstToken: 20 * time.Second, Stall: 20 * time.Second, Total: 30 * time.Second}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	used = map[string]int{}
	for range sessionConversations {
		turns := &turnSink{}
		end := p.Converse(t.Context(), probe.Plan{Scheduled: time.Now(), Model: "m", Conversation: workload.Conversation{
			Turns: 3, Opening: []workload.Message{{Role: "user", Content: "Hello."}}, Followups: []string{"Why?", "How?"},
		}}, turns)
		if end.Outcome != probe.Success || len(turns.all) != 3 {
			t.Fatalf("%d turns, %s: %+v", len(turns.all), end.Outcome, turns.all)
		}
		used[turns.all[0].Worker]++
		for _, r := range turns.all {
			sum.Count(r.Session, r.PromptTokens, r.CachedTokens)
		}
	}
	return sum, used
}

// turnSink keeps the turns of a conversation.
type turnSink struct{ all []probe.Result }

func (s *turnSink) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		s.all = append(s.all, r)
	}
}

// haproxyRouter returns a function that starts HAProxy.
func haproxyRouter(balance string) func(t *testing.T, dir, address string, workers []string) *process {
	return func(t *testing.T, dir, address string, workers []string) *process {
		text := "global\n  maxconn 200\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n" +
			"frontend in\n  bind " + address + "\n  default_backend out\nbackend out\n  " + balance + "\n"
		for i, w := range workers {
			text += fmt.Sprintf("  server w%d %s\n", i+1, w)
		}
		return start(t, "haproxy", nil, "haproxy", "-db", "-f", written(t, dir, "haproxy.cfg", text))
	}
}

func nginxRouter(t *testing.T, dir, address string, workers []string) *process {
	text := "daemon off;\nworker_processes 1;\npid " + dir + "/nginx.pid;\nevents { worker_connections 256; }\nhttp {\n  access_log off;\n"
	for _, path := range []string{"client_body_temp_path", "proxy_temp_path", "fastcgi_temp_path", "uwsgi_temp_path", "scgi_temp_path"} {
		text += "  " + path + " " + filepath.Join(dir, path) + ";\n"
	}
	// Requests without the header have an id of their own, so that they are spread.
	text += "  map $http_x_session_id $session { \"\" $request_id; default $http_x_session_id; }\n" +
		"  upstream workers { hash $session consistent; server " + strings.Join(workers, "; server ") + "; }\n" +
		"  server { listen " + address + "; location / { proxy_pass http://workers; proxy_buffering off; } }\n}\n"
	return start(t, "nginx", nil, "nginx", "-e", "stderr", "-c", written(t, dir, "nginx.conf", text))
}

// vllmRouter starts vLLM's own router.
func vllmRouter(t *testing.T, _, address string, workers []string) *process {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	_, metrics := freeAddress(t)
	return start(t, "vllm-router", nil, cached(t, "vllm-router", "bin", "vllm-router"), "--host", host, "--port", port,
		"--policy", "consistent_hash", "--prometheus-port", fmt.Sprint(metrics), "--worker-urls", "http://"+workers[0], "http://"+workers[1])
}

// liteLLMRouter starts LiteLLM's proxy with one model on all workers, between which it draws.
func liteLLMRouter(t *testing.T, dir, address string, workers []string) *process {
	text := "router_settings: {optional_pre_call_checks: [session_affinity]}\nlitellm_settings: {callbacks: [], telemetry: false}\n" +
		"general_settings: {dangerously_permit_weak_or_unset_master_key: true}\nmodel_list:\n"
	for _, w := range workers {
		text += "  - {model_name: m, litellm_params: {model: hosted_vllm/m, api_base: \"http://" + w + "/v1\", api_key: none}}\n"
	}
	host, port, _ := strings.Cut(address, ":")
	return start(t, "litellm", []string{"LITELLM_LOCAL_MODEL_COST_MAP=True"}, cached(t, "litellm", "bin", "litellm"),
		"--config", written(t, dir, "litellm.yaml", text), "--host", host, "--port", port)
}

// written writes a file and returns its path.
func written(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
