package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate"
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

// TestRunPages breaks a deployment and expects the page at an Alertmanager, on the status
// page and in the log.
func TestRunPages(t *testing.T) {
	if testing.Short() {
		t.Skip("waits 20 s in real time; make test-long runs it")
	}
	t.Parallel()
	received := make(chan map[string]string, 100)
	am := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var alerts []struct{ Labels map[string]string }
		if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
			t.Errorf("the Alertmanager cannot read the alerts: %v", err)
		}
		for _, a := range alerts {
			select {
			case received <- a.Labels:
			default: // the channel is full; the test has enough
			}
		}
	}))
	defer am.Close()
	_, server := fastDeployment(t, befall(simulate.ErrorStatus, 1))
	file := configFor(t, "/v1", map[string]string{"a": server.URL})
	plain, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	withAlerting(t, file, "alerting: {interval: 1s, alertmanagers: [{url: \""+am.URL+"\"}], external_labels: {cluster: x}}\n")
	p := sidecarRun(t, file, "--web.enable-lifecycle")
	select {
	case labels := <-received:
		if labels["severity"] != "page" || labels["target"] != "a" || labels["cluster"] != "x" {
			t.Errorf("paged with %v", labels)
		}
	case <-time.After(60 * time.Second):
		t.Fatalf("no page; log:\n%s", p.err)
	}
	p.err.find(t, `(msg="An alert fires" alert=Synthetic\w+ severity=page)`)
	if code, page := p.get("/"); code != http.StatusOK || !strings.Contains(page, "runbook of Synthetic") {
		t.Errorf("/ answers %d and does not show the alert:\n%s", code, page)
	}
	var shown struct {
		Alerts struct {
			Rules []struct{ Name, State string }
		}
	}
	if _, body := p.get("/api/status"); json.Unmarshal([]byte(body), &shown) != nil || len(shown.Alerts.Rules) == 0 {
		t.Errorf("/api/status shows no rules: %s", body)
	}

	p.until("the delivery on /metrics", func(s map[string]float64) bool {
		undelivered, found := sum(s, "synthetic_pager_alerts_undelivered", `alertmanager="`+am.URL+`"`)
		return found && undelivered == 0
	})

	// A reload may change the rules, but does not stop or start the pager.
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
