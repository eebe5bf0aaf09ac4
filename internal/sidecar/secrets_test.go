package sidecar_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/redact"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/echo"
	"synthetic/tools/testkit/stage"
)

const secretsConfig = `
targets:
  - {name: chat, base_url: http://deployment/v1, model: m, api_key_file: key, service: s, worker: auto, server_metrics: {}}
  - {name: found, base_url: http://deployment/v1, api_key_file: key, models: [m]}
workloads:
  - {name: chat, turns: {min: 1, max: 1}, prompt_tokens: 20, max_output_tokens: 6, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
traffic:
  - {targets: "*", workload: chat, arrival: {process: constant, rate: 1}, max_concurrency: 20}
slos:
  - {name: availability, sli: availability, objective: 99.5%}
alerting:
  directory: pager
  alertmanagers:
    - {url: "http://alertmanager:80"}
    - {url: "http://refusing:80", http_client: {basic_auth: {username: u, password_file: password}}}
`

// TestNoPartOfAKeyIsShown probes a server that repeats its key in all forms at all places, until it
// pages, and searches everything that the sidecar shows, logs, sends and stores.
func TestNoPartOfAKeyIsShown(t *testing.T) {
	passwords := echo.Keys()
	for i, key := range echo.Keys() {
		t.Run(fmt.Sprintf("%d bytes", len(key)), func(t *testing.T) {
			if testing.Short() && i != 1 {
				t.Skip("one length is enough for a quick run; make test-long runs all")
			}
			dir := t.TempDir()
			for name, text := range map[string]string{"key": key, "password": passwords[(i+1)%3]} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var shown map[string]string
			synctest.Test(t, func(t *testing.T) { shown = shownOf(t, dir) })
			for _, secret := range []string{key, passwords[(i+1)%3]} {
				s := echo.NewSearcher(secret)
				for where, text := range shown {
					if form, run := s.Find(text); form != "" {
						at := strings.Index(text, run)
						t.Errorf("%s has %q (%s): %q", where, run, form, text[max(0, at-100):at+len(run)])
					}
				}
			}
			for _, where := range []string{"log", "/", "/api/status"} { // the echoes arrived
				if text := shown[where]; !strings.Contains(text, redact.Mark) && !strings.Contains(text, "&lt;redacted&gt;") && !strings.Contains(text, `\u003credacted`) {
					t.Errorf("%s has no place where a key was: %.2000s", where, text)
				}
			}
			if !strings.Contains(shown["notification"], "SyntheticTargetDown") && !strings.Contains(shown["notification"], "FastBurn") {
				t.Errorf("nobody was paged: %.2000s", shown["notification"])
			}
		})
	}
}

// shownOf runs a sidecar until the server has repeated the key in all ways, and returns its outputs.
func shownOf(t *testing.T, dir string) map[string]string {
	cfg, err := config.Parse("synthetic.yml", []byte(secretsConfig), dir)
	if err != nil {
		t.Fatal(err)
	}
	disk, server, box, log := t.TempDir(), &echo.Server{}, &recorder{}, &recorder{}
	cfg.Alerting.Directory = filepath.Join(disk, "pager")
	wires := map[string]*simulate.Pipes{}
	for addr, h := range map[string]http.Handler{"deployment:80": server, "alertmanager:80": box, "refusing:80": http.HandlerFunc(refusePassword())} {
		wires[addr] = simulate.NewPipes()
		defer simulate.Serve(wires[addr], h)()
	}
	logger := slog.New(slog.NewTextHandler(redact.Writer(log), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := sidecar.New(sidecar.Options{
		Logger: logger, Events: logger, DrainTimeout: time.Second,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return wires[addr].Dial(ctx, network, addr)
		},
		StateFile: filepath.Join(disk, "state"), TurnsFile: filepath.Join(disk, "turns"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	stop := stage.Run(t, s)
	shown := map[string]string{}
	for range 9 * (echo.Cycle()/60 + 2) {
		time.Sleep(7 * time.Second)
		for _, path := range []string{"/", "/metrics", "/api/status"} {
			_, text := read(s, http.MethodGet, path)
			shown[path] += text
		}
	}
	stop()
	s.Close()
	shown["log"], shown["notification"] = log.String(), box.String()
	err = filepath.WalkDir(disk, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		shown[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// refusePassword returns an Alertmanager that refuses alerts and repeats the password in another form
// each time.
func refusePassword() http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		w.WriteHeader([]int{http.StatusBadRequest, http.StatusInternalServerError}[n%2])
		_, _ = io.WriteString(w, echo.Forms()[n/2%len(echo.Forms())].Spell(password))
		n++
	}
}

// recorder keeps what is written or sent to it.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recorder) ServeHTTP(_ http.ResponseWriter, req *http.Request) { _, _ = io.Copy(r, req.Body) }

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// read returns what the sidecar serves at a path.
func read(s *sidecar.Sidecar, method, path string) (code int, body string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+path, nil))
	return w.Code, w.Body.String()
}
