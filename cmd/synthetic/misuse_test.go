package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/study/runs"
)

// misusedFiles are the files that testdata/misuses.txt names.
func misusedFiles(t *testing.T) map[string]string {
	const target = "targets: [{name: a, base_url: \"http://127.0.0.1:1/v1\"}]\n"
	const plan = "variants: [{base_url: \"http://127.0.0.1:1/v1\"}]\nworkload: {turns: {max: 1}}\nlevels: {concurrency: [2, 4]}\n"
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	good := read(sweepFile(t, "good.json", nil))
	const state = `{"version": 6, "jobs": [{"target": "a", "workload": "chat", "relearned": "2026-01-05T00:00:00Z"}]}`
	return map[string]string{
		"synthetic.yml": target, "plan.yml": plan, "empty.yml": "", "web.yml": "nonsense: 1\n", "bom-key": "\ufeffsk-first\n", "two-keys": "sk-first\nsk-second\n",
		"scheme.yml": "targets: [{base_url: \"vllm:8000\"}]\n", "typo.yml": "target: [{base_url: \"http://a\"}]\n",
		"tab.yml": "targets:\n\t- base_url: http://a\n", "key.yml": "targets: [{base_url: \"http://a\", api_key: sk-first}]\n",
		"unset.yml": "targets: [{base_url: \"http://a\", api_key_env: SYNTHETIC_TEST_UNSET}]\n", "user.yml": "targets: [{base_url: \"http://me:sk-first@a\"}]\n",
		"rate.yml": target + "traffic: [{arrival: {rate: 500}}]\n", "seconds.yml": target + "slos: [{sli: ttft, threshold: 1, objective: 99}]\n",
		"slow.yml": target + "slos: [{sli: ttft, threshold: 2m, objective: 99%}]\n", "none.yml": target + "traffic: [{targets: [b], workload: chat}]\n",
		"timeout.yml": target + "workloads: [{timeouts: {first_token: 300}}]\n", "list.yml": target + "traffic: [{targets: [\"*\"]}]\n",
		"falling.yml": "variants: [{base_url: \"preset:phase9\"}]\nlevels: {rate: [2, 1]}\n", "no-slos.yml": plan + "slos: []\n",
		"good.json": good, "half.json": good[:10], "quantiles": read("../../internal/study/report/testdata/000.txt"),
		"slo.json":       read(sweepFile(t, "slo.json", func(r *runs.Run) { r.SLOs[0].Threshold = 2 * time.Second })),
		"work.json":      read(sweepFile(t, "work.json", func(r *runs.Run) { r.Workload.Parameters[1].Value = "100" })),
		"shard/run.json": read(shardFile(t, 0, 3)), "shard1.json": read(shardFile(t, 1, 3)),
		"state-cut": state[:len(state)/2], "state-garbage": "\x00\x01", "state-more": state + "}", "state-later": `{"version": 7}`, "state": state,
		"taken/file": "", "taken/report.md": "mine\n", "exists.yml": "mine\n",
	}
}

var (
	// remedy matches words of a message that say what to do.
	remedy = regexp.MustCompile(`(?i)\b(write|name|use|give|add|remove|leave|choose|keep|set|put|correct|check|move|start|wait|try|measure|widen|needs?|the flags are|the commands are|is none of|give|run it with|want)\b`)
	// changing matches what differs between two runs of the test.
	changing = regexp.MustCompile(`(?m)time=\S+ |source=\S+ |20\d\d-\d\d-\d\dT[\d:]+Z|^ +(connect|headers|waiting|tls|trace) .*\n|  total .*`)
)

// TestMisuses runs the commands of testdata/misuses.txt, each after a $, and compares their output. The exit code is 2
// unless it is shown. A message shows no secret, and nearly all say what to do. With -update it writes the file.
func TestMisuses(t *testing.T) {
	golden, err := filepath.Abs("testdata/misuses.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	files := misusedFiles(t)
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deployment, _ := fastDeployment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/locked/"):
			http.Error(w, `{"error": {"message": "no key"}}`, http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/busy/"):
			http.Error(w, `{"error": {"message": "rate limit"}}`, http.StatusTooManyRequests)
		case strings.HasPrefix(r.URL.Path, "/page/"):
			fmt.Fprint(w, "<html>Welcome to nginx</html>")
		default:
			deployment.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	var got strings.Builder
	misuses, answered := 0, 0
	for line := range strings.Lines(string(want)) {
		command, ok := strings.CutPrefix(line, "$ synthetic")
		if !ok {
			continue
		}
		args := words(command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "SERVER", server.Listener.Addr().String())
		}
		var out strings.Builder
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a mistake that is accepted would run for ever
		code := run(ctx, args, &out, &out)
		cancel()
		text := changing.ReplaceAllString(strings.ReplaceAll(out.String(), server.Listener.Addr().String(), "SERVER"), "")
		got.WriteString(line + text)
		if code != exitUsage {
			fmt.Fprintf(&got, "[exit code %d]\n", code)
		}
		misuses++
		if remedy.MatchString(strings.ReplaceAll(text, `Try "`, "")) {
			answered++
		} else {
			t.Logf("no remedy in %s%s", line, text)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got; -update writes the file):\n%s", diff)
	}
	for name, text := range files {
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%s was changed (%v)", name, err)
		}
	}
	for _, name := range []string{"new", "new.yml"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if misuses < 60 || answered*60 < misuses*55 || strings.Contains(got.String(), "sk-") {
		t.Errorf("%d of %d misuses say what to do, or a message shows a key", answered, misuses)
	}
}
