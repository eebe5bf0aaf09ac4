package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// withAlerting appends a section to a configuration file.
func withAlerting(t *testing.T, path, section string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, section...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReloadKeepsThePager: a reload may change the rules, but does not stop or start the pager. TestKilledAnywhere pages.
func TestReloadKeepsThePager(t *testing.T) {
	file := configFor(t, "/v1", map[string]string{"a": "http://127.0.0.1:1"})
	plain, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	withAlerting(t, file, "alerting: {}\n")
	p := sidecarRun(t, file, "--web.enable-lifecycle")
	withAlerting(t, file, "# the same\n")
	if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusOK {
		t.Errorf("reloading the same configuration answers %d: %s", code, body)
	}
	if err := os.WriteFile(file, plain, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusInternalServerError || !strings.Contains(body, "restart it, or undo the change") {
		t.Errorf("reloading without the pager answers %d: %s", code, body)
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}

// TestRunWithoutPager: without alerting, the page says so and no storage is opened.
func TestRunWithoutPager(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, server := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "/v1", map[string]string{"a": server.URL}))
	if _, found := sum(p.series(), "synthetic_pager_stalled"); found {
		t.Error("alerts are exported without a pager")
	}
	if _, page := p.get("/"); !strings.Contains(page, "does not evaluate alert rules") {
		t.Errorf("/ says %s", page)
	}
	entries, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(entries) > 0 {
		t.Errorf("there are %d temporary files (%v)", len(entries), err)
	}
}
