package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"synthetic/internal/redact"
	"synthetic/tools/testkit/echo"
)

// TestKeyAppearsNowhere runs the sidecar and the probe with a key, against a deployment
// that accepts it and one that refuses it and quotes it in the error. The key must not
// appear in any output.
func TestKeyAppearsNowhere(t *testing.T) {
	const key = "sk-THE-KEY-0123456789abcdef"
	const header = "tenant-SECRET-0123456789"
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, good := fastDeployment(t)
	deployment := good.Config.Handler
	good.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		deployment.ServeHTTP(w, r)
	})
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // repeats a part of the key, as OpenAI does
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %.20s****.","code":"invalid_api_key"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	t.Cleanup(bad.Close)
	extra := ", model: simulated-chat, api_key_file: " + keyFile + ", headers: {x-tenant: " + header + "}, server_metrics: {}"
	file := configFor(t, extra, map[string]string{"good": good.URL, "bad": bad.URL})
	p := sidecarRun(t, file, "--web.enable-lifecycle", "--log.level=debug")
	p.until("turns of both targets", func(s map[string]float64) bool {
		g, _ := sum(s, "synthetic_turn_duration_window_seconds_count", `target="good"`)
		b, _ := sum(s, "synthetic_turn_failures_total", `target="bad"`, "http_4xx")
		_, read := sum(s, "synthetic_server_metrics_up", `target="bad"`)
		return g > 5 && b > 5 && read
	})
	seen := map[string]string{}
	for _, path := range []string{"/", "/metrics", "/api/status", "/-/ready", "/-/healthy"} {
		_, seen["GET "+path] = p.get(path)
	}
	_, seen["reload"] = p.do(http.MethodPost, "/-/reload")
	if err := os.WriteFile(file, []byte("targets: [{base_url: http://x/v1, api_key: "+key+", headers: {Authorization: Bearer "+key+"}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, seen["a key within the file"] = p.do(http.MethodPost, "/-/reload")
	if !strings.Contains(seen["a key within the file"], "api_key_file") {
		t.Errorf("the error for an inline key is %q", seen["a key within the file"])
	}
	var dump bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&dump, 2); err != nil {
		t.Fatal(err)
	}
	seen["goroutine dump"] = dump.String()
	for name, url := range map[string]string{"good": good.URL, "bad": bad.URL} {
		out, errs := newBuffer(), newBuffer()
		run(t.Context(), []string{"probe", "--base-url", url, "--api-key-file", keyFile, "--header", "x-tenant=" + header, "--output=json", "--turns=1", "--log.level=debug"}, out, errs)
		seen["probe "+name] = out.String() + errs.String()
	}
	p.end()
	seen["log"] = p.err.String() + p.out.String()
	for where, text := range seen {
		for _, secret := range []string{key, header, base64.StdEncoding.EncodeToString([]byte(key)), key[:12]} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q appears in %.2000s", where, secret, text)
			}
		}
		if len(text) == 0 {
			t.Errorf("%s: there was no output to check", where)
		}
	}
}

// TestProbeShowsNoPartOfAKey probes, and writes a configuration for, a deployment that repeats its key in all forms.
func TestProbeShowsNoPartOfAKey(t *testing.T) {
	t.Parallel()
	keys := echo.Keys()
	if testing.Short() {
		keys = keys[1:2]
	}
	for _, key := range keys {
		server, keyFile := echoServer(t, key)
		shown := newBuffer()
		for i := range echo.Cycle() {
			format := []string{"json", "text"}[i/7%2]
			run(t.Context(), []string{"probe", "--output=" + format, "--base-url=" + server, "--api-key-file=" + keyFile, "--turns=1", "--log.level=debug"}, shown, shown)
		}
		file := filepath.Join(t.TempDir(), "written")
		run(t.Context(), []string{"init", "--output.file=" + file, "--base-url=" + server, "--api-key-file=" + keyFile}, shown, shown)
		written, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("init wrote nothing: %v", err)
		}
		wantNoPart(t, key, map[string]string{"probe": shown.String(), "init": string(written)})
	}
}

// TestSweepShowsNoPartOfAKey sweeps a deployment that repeats its key in all forms.
func TestSweepShowsNoPartOfAKey(t *testing.T) {
	t.Parallel()
	key := echo.Keys()[1]
	server, keyFile := echoServer(t, key)
	dir := t.TempDir()
	plan, out, shown := filepath.Join(dir, "plan.yml"), filepath.Join(dir, "out"), newBuffer()
	text := fmt.Sprintf(`title: quick
variants: [{name: a, base_url: %q, model: m, api_key_file: %q}]
workload: {turns: {min: 1, max: 1}, prompt_tokens: 20, max_output_tokens: 8}
levels: {concurrency: [8], start_rate: 100}
warm_up: {duration: 100ms}
measure: {snapshots: 1, snapshot: 1s}
`, server, keyFile)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t.Context(), []string{"sweep", "--plan.file=" + plan, "--output.dir=" + out, "--log.level=debug"}, shown, shown)
	run(t.Context(), []string{"report", "render", out}, shown, shown)
	files := filesIn(t, out)
	if text := files[filepath.Join(out, "run.json")]; !strings.Contains(text, redact.Mark) && !strings.Contains(text, redact.Withheld) {
		t.Errorf("run.json has no place where the key was: %.2000s\n%s", files[filepath.Join(out, "run.json")], shown)
	}
	files["sweep"] = shown.String()
	wantNoPart(t, key, files)
}

// echoServer returns the address of a deployment that repeats its key, and a file with the key.
func echoServer(t *testing.T, key string) (address, keyFile string) {
	t.Helper()
	server := httptest.NewServer(&echo.Server{})
	t.Cleanup(server.Close)
	keyFile = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, keyFile
}

// wantNoPart searches texts for a run of a key.
func wantNoPart(t *testing.T, key string, texts map[string]string) {
	t.Helper()
	searcher := echo.NewSearcher(key)
	for where, text := range texts {
		if form, run := searcher.Find(text); form != "" {
			t.Errorf("a key of %d bytes: %s has %q (%s)", len(key), where, run, form)
		}
	}
}

// filesIn returns the files below a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
