//go:build e2e && real

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sceneArrival is the traffic of the scenes: a turn every 2.5 s per target. Without it, the rate is the default.
const sceneArrival = ", arrival: {rate: 0.1}"

const realWorkload = `
workloads:
  - {name: chat, turns: {min: 3, max: 5}, prompt_tokens: 200, max_output_tokens: 24}
traffic:
  - {workload: chat%s}
slos:
  - {name: ttft, sli: ttft, threshold: 2s, objective: 99%%}
  - {name: tpot, sli: tpot, threshold: 100ms, objective: 99%%}
  - {name: availability, sli: availability, objective: 99.5%%}
alerting: {alertmanagers: [{url: %q}]}
`

// watcher is a sidecar with its pager, and an Alertmanager with the shipped configuration that
// forwards to a webhook.
type watcher struct {
	sidecar *sidecar
	am      *alertmanager
}

// startWatcher probes the targets, which are YAML.
func startWatcher(t *testing.T, targets, arrival string) *watcher {
	t.Helper()
	w := &watcher{am: startAlertmanager(t)}
	w.sidecar = startConfigured(t, "targets:\n"+targets+fmt.Sprintf(realWorkload, arrival, w.am.root))
	t.Cleanup(func() { w.keepRecords(t) })
	return w
}

// fired is one firing of an alert, as the webhook was notified of it.
type fired struct {
	Name, Severity, Target string
	Labels                 map[string]string
	Summary, Description   string
	Notified, Ended        time.Time // Ended is zero while the alert fires
}

func (f *fired) pages() bool { return f.Severity == "page" }

func (f *fired) stillPages() bool { return f.pages() && f.Ended.IsZero() }

// text returns what a reader sees first: the summary and the description's first sentence.
func (f *fired) text() (summary, sentence string) {
	sentence, _, _ = strings.Cut(strings.Join(strings.Fields(f.Description), " "), ". ")
	return f.Summary, sentence
}

// history returns all firings so far, in the order of their notifications. A notification
// has all alerts of its group, so an alert that it lacks is over, or inhibited.
func (w *watcher) history() []*fired {
	w.am.pager.mu.Lock()
	defer w.am.pager.mu.Unlock()
	var all []*fired
	open := map[string]map[string]*fired{} // by group, then by labels
	for _, n := range w.am.pager.got {
		group := n.path + n.GroupLabels["target"]
		before, now := open[group], map[string]*fired{}
		for _, a := range n.Alerts {
			if a.Labels["alertname"] == starved || a.Status != "firing" {
				continue
			}
			labels, _ := json.Marshal(a.Labels) // cannot fail
			f := before[string(labels)]
			if f == nil {
				f = &fired{
					Name: a.Labels["alertname"], Severity: a.Labels["severity"], Target: a.Labels["target"], Labels: a.Labels,
					Summary: a.Annotations["summary"], Description: a.Annotations["description"], Notified: n.at,
				}
				all = append(all, f)
			}
			now[string(labels)] = f
		}
		for key, f := range before {
			if now[key] == nil {
				f.Ended = n.at
			}
		}
		open[group] = now
	}
	return all
}

// since returns the firings that were notified after a time.
func (w *watcher) since(begin time.Time) []*fired {
	return slices.DeleteFunc(w.history(), func(f *fired) bool { return f.Notified.Before(begin) })
}

// keepRecords writes what the webhook got, the sidecar's log and its last metrics into the
// directory of records.
func (w *watcher) keepRecords(t *testing.T) {
	dir := filepath.Join(*records, strings.ReplaceAll(t.Name(), "/", "_"))
	history, err := json.MarshalIndent(w.history(), "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	files := map[string][]byte{"notifications.json": history, "synthetic.log": []byte(w.sidecar.output(t))}
	for file, path := range map[string]string{"metrics.txt": "/metrics", "alerts.json": "/api/status"} {
		files[file], _ = get(context.Background(), "http://"+w.sidecar.address+path) // the record lacks it if the sidecar is dead
	}
	for file, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), content, 0o644)
		}
	}
	if err != nil {
		t.Errorf("keeping the records of the scene: %v", err)
	}
}
