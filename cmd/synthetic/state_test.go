package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/sidecar/watch"
)

// TestStateFile: a sidecar saves its state when it stops.
func TestStateFile(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	path := filepath.Join(t.TempDir(), "baselines.json")
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL}), "--state.file="+path)
	p.until("turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > 10 })
	if code := p.end(); code != exitOK {
		t.Fatalf("exit code %d: %s", code, p.err)
	}
	f, err := watch.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Jobs) != 1 || f.Jobs[0].Target != "a" || len(f.Jobs[0].Signals[0].Classes) == 0 {
		t.Errorf("saved %+v, want what is usual of target a", f.Jobs)
	}
}

// TestSecondProcess: a second process does not touch the files of the first.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": server.URL})
	paging := configFor(t, "", map[string]string{"a": server.URL})
	withAlerting(t, paging, "alerting: {directory: "+filepath.Join(t.TempDir(), "pager")+"}\n")
	state := "--state.file=" + filepath.Join(t.TempDir(), "baselines.json")
	sidecarRun(t, paging, state)
	refused := func(name, want string, args ...string) {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"run", "--web.listen-address=127.0.0.1:0"}, args...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", name, code, exitUsage, want, errs)
		}
	}
	holder := fmt.Sprintf("is in use by process %d on ", os.Getpid())
	refused("the state file", holder, "--config.file="+file, state)
	refused("the pager's directory", holder, "--config.file="+paging)
}

// TestStateFileRefused: the program does not start with an invalid state file and does not
// change it.
func TestStateFileRefused(t *testing.T) {
	t.Parallel()
	whole := `{"version": 3, "jobs": [{"target": "a", "workload": "chat", "relearned": "2026-01-05T00:00:00Z"}]}`
	good := configFor(t, "", map[string]string{"a": "http://127.0.0.1:1"})
	bad := filepath.Join(t.TempDir(), "bad.yml")
	if err := os.WriteFile(bad, []byte("targets: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ config, text, want string }{
		"empty":                {good, "", "delete the file to start learning again"},
		"cut off":              {good, whole[:len(whole)/2], "delete the file to start learning again"},
		"not JSON":             {good, "\x00\x01", "delete the file to start learning again"},
		"with something after": {good, whole + "}", "delete the file to start learning again"},
		"of a later version":   {good, `{"version": 4}`, "is of version 4, this binary reads 3"},
		"whole, but the configuration has mistakes": {bad, whole, "targets"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "baselines.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs := newBuffer(), newBuffer()
			code := run(t.Context(), []string{"run", "--config.file=" + tt.config, "--state.file=" + path, "--web.listen-address=127.0.0.1:0"}, out, errs)
			if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, exitUsage, tt.want, errs)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("the file holds %q now (%v), want %q", text, err, tt.text)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "none", "baselines.json")
	out, errs := newBuffer(), newBuffer()
	code := run(t.Context(), []string{"run", "--config.file=" + good, "--state.file=" + missing, "--web.listen-address=127.0.0.1:0"}, out, errs)
	if code != exitUsage || !strings.Contains(errs.String(), "its directory must exist and be writable") {
		t.Errorf("a directory that does not exist: exit code %d, want %d:\n%s", code, exitUsage, errs)
	}
}
