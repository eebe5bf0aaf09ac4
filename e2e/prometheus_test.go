//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// prometheus is a Prometheus that scrapes sidecars.
type prometheus struct {
	*process
	root string
}

// startPrometheus starts Prometheus with the rule file, addresses of targets separated by
// commas, and more parts of the configuration, scrape_configs first, at intervals for
// tests.
func startPrometheus(t *testing.T, targets, rules string, more ...string) *prometheus {
	t.Helper()
	return runPrometheus(t, "--storage.tsdb.path", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: synthetic
    static_configs: [{targets: [%s]}]
%s`, rules, targets, strings.Join(more, "\n")))
}

// runPrometheus starts Debian's Prometheus with the text of a configuration. storage is the flag
// that names its storage directory; without a value, the directory is new.
func runPrometheus(t *testing.T, storage, text string, flags ...string) *prometheus {
	t.Helper()
	return runPrometheusOf(t, cached(t, "prometheus", "usr", "bin", "prometheus"), storage, text, flags...)
}

// runPrometheusOf starts a program like runPrometheus.
func runPrometheusOf(t *testing.T, program, storage, text string, flags ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address, _ := freeAddress(t)
	p := &prometheus{root: "http://" + address}
	if !strings.Contains(storage, "=") {
		storage += "=" + filepath.Join(dir, "data")
	}
	p.process = start(t, "prometheus", nil, append([]string{program,
		"--config.file=" + config, storage, "--web.listen-address=" + address, "--log.level=warn"}, flags...)...)
	awaitAnswer(t, p.process, p.root+"/-/ready")
	return p
}

// api calls the HTTP API and decodes the data of its answer.
func (p *prometheus) api(t *testing.T, path string, data any) error {
	body, err := get(t.Context(), p.root+"/api/v1/"+path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, &struct{ Data any }{data})
}

// awaitSample waits until a query has a result.
func (p *prometheus) awaitSample(t *testing.T, query string) {
	t.Helper()
	await(t, patience, "a result of "+query, func() error {
		var data struct{ Result []json.RawMessage }
		if err := p.api(t, "query?query="+url.QueryEscape(query), &data); err != nil {
			return err
		}
		if len(data.Result) == 0 {
			return errors.New("the result is empty")
		}
		return nil
	}, p.process)
}

// firing returns the labels of the firing alerts except starved.
func (p *prometheus) firing(t *testing.T) []map[string]string {
	t.Helper()
	firing, err := p.tryFiring(t)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(firing, func(labels map[string]string) bool { return labels["alertname"] == starved })
}

func (p *prometheus) tryFiring(t *testing.T) ([]map[string]string, error) {
	var data struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	if err := p.api(t, "alerts", &data); err != nil {
		return nil, err
	}
	var firing []map[string]string
	for _, a := range data.Alerts {
		if a.State == "firing" {
			firing = append(firing, a.Labels)
		}
	}
	return firing, nil
}

// awaitAlert waits until an alert with exactly these labels fires.
func (p *prometheus) awaitAlert(t *testing.T, labels map[string]string) {
	t.Helper()
	began := time.Now()
	await(t, 2*time.Minute, fmt.Sprintf("the alert %v to fire", labels), func() error {
		firing, err := p.tryFiring(t)
		if err != nil {
			return err
		}
		for _, got := range firing {
			if maps.Equal(got, labels) {
				return nil
			}
		}
		return fmt.Errorf("firing: %v", firing)
	}, p.process)
	t.Logf("%s of %s fires after %.1f s", labels["alertname"], labels["slo"], time.Since(began).Seconds())
}
