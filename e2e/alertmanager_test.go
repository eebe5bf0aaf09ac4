//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// alertmanager is an Alertmanager with the configuration of the examples, but with other
// intervals and addresses.
type alertmanager struct {
	*process
	address, root string
	argv          []string
	pager         *webhook
}

func startAlertmanager(t *testing.T) *alertmanager {
	t.Helper()
	example, err := os.ReadFile("../examples/alertmanager/alertmanager.yml")
	if err != nil {
		t.Fatal(err)
	}
	a := &alertmanager{pager: newWebhook(t)}
	text := string(example)
	for from, to := range map[string]string{
		"http://receiver:9099": a.pager.url, "group_wait: 30s": "group_wait: 1s", "group_interval: 5m": "group_interval: 2s",
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("examples/alertmanager/alertmanager.yml has no %q", from)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.address, _ = freeAddress(t)
	a.root = "http://" + a.address
	a.argv = []string{
		cached(t, "alertmanager", "alertmanager"),
		"--config.file=" + config, "--storage.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + a.address, "--cluster.listen-address=", "--log.level=warn",
	}
	a.restart(t)
	return a
}

// restart starts Alertmanager, again if it was killed.
func (a *alertmanager) restart(t *testing.T) {
	t.Helper()
	a.process = start(t, "alertmanager", nil, a.argv...)
	awaitAnswer(t, a.process, a.root+"/-/ready")
}

// alerts returns the labels of the known alerts of a name.
func (a *alertmanager) alerts(t *testing.T, name string) []map[string]string {
	t.Helper()
	body, err := get(t.Context(), a.root+"/api/v2/alerts?filter="+url.QueryEscape("alertname="+name))
	if err != nil {
		t.Fatal(err)
	}
	var known []struct{ Labels map[string]string }
	if err := json.Unmarshal(body, &known); err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, k := range known {
		out = append(out, k.Labels)
	}
	return out
}

// notification is the body of Alertmanager's request to a webhook.
type notification struct {
	Status      string
	GroupLabels map[string]string
	Alerts      []struct {
		Status              string
		Labels, Annotations map[string]string
	}
	path string
	at   time.Time // of the notification
}

// webhook receives the notifications of Alertmanager.
type webhook struct {
	url string
	mu  sync.Mutex
	got []notification
}

func newWebhook(t *testing.T) *webhook {
	w := &webhook{}
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

func (w *webhook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	n := notification{path: r.URL.Path, at: time.Now()}
	if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
		panic(http.ErrAbortHandler) // Alertmanager would try again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, n)
}

// await waits for a notification with a status about one of some alerts, and returns it.
func (w *webhook) await(t *testing.T, limit time.Duration, status string, alertnames []string, needed ...*process) notification {
	t.Helper()
	began := time.Now()
	var found notification
	await(t, limit, fmt.Sprintf("a notification that one of %v is %s", alertnames, status), func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, n := range w.got {
			for _, a := range n.Alerts {
				if a.Status == status && slices.Contains(alertnames, a.Labels["alertname"]) {
					found = n
					return nil
				}
			}
		}
		return fmt.Errorf("notified so far: %+v", w.got)
	}, needed...)
	t.Logf("%v: notified as %s after %.1f s", alertnames, status, time.Since(began).Seconds())
	return found
}

// statuses returns the statuses that were notified for an alert, in order.
func (w *webhook) statuses(alertname string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, n := range w.got {
		for _, a := range n.Alerts {
			if a.Labels["alertname"] == alertname {
				out = append(out, a.Status)
			}
		}
	}
	return out
}

// starved is the alert of a prober without CPU. It describes the machine that runs the
// tests and may fire on a busy one.
const starved = "SyntheticProberStarved"

// calls returns the alerts that were notified as firing, in order and once per
// notification, except starved.
func (w *webhook) calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, n := range w.got {
		for _, a := range n.Alerts {
			if name := a.Labels["alertname"]; a.Status == "firing" && name != starved {
				out = append(out, name)
			}
		}
	}
	return out
}
