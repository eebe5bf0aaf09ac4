//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPrometheusNamesTargets: Prometheus' file_sd names fifty targets for /probe. Each is
// probed and has its series once; targets that leave the file are no longer probed.
func TestPrometheusNamesTargets(t *testing.T) {
	t.Parallel()
	const many, few = 50, 5
	address, _ := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{binary(t), "simulate", "--model=m", "--engine=first_token=5ms"}
	var hosts, targets []string
	for i := range many {
		host := fmt.Sprintf("127.0.0.%d:%s", i+1, port)
		flags = append(flags, "--web.listen-address="+host)
		hosts, targets = append(hosts, strconv.Quote(host)), append(targets, "http://"+host+"/v1")
	}
	start(t, "simulate", nil, flags...)
	s := startConfigured(t, `
discovery: [{name: chat, allowed_hosts: [`+strings.Join(hosts, ", ")+`], lease: 10s, target: {model: m}}]
workloads: [{name: chat, turns: {min: 1, max: 1}, prompt_tokens: 20, max_output_tokens: 4}]
traffic: [{workload: chat, arrival: {process: constant, rate: 1}}]
`)
	file := filepath.Join(t.TempDir(), "llm.json")
	name := func(n int) {
		text, _ := json.Marshal([]map[string]any{{"targets": targets[:n]}})
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name(many)
	p := startPrometheus(t, s.address, s.generateRules(t), fmt.Sprintf(`
  - job_name: targets
    metrics_path: /probe
    params: {module: [chat]}
    file_sd_configs: [{files: [%q], refresh_interval: 1s}]
    relabel_configs:
      - {source_labels: [__address__], target_label: __param_target}
      - {source_labels: [__address__], target_label: instance}
      - {target_label: __address__, replacement: %q}
`, file, s.address))
	is := func(query string, want int) {
		t.Helper()
		p.awaitSample(t, fmt.Sprintf("(%s) == %d", query, want))
	}
	is(`count(synthetic_turns_total{job="targets"} > 0)`, many)
	is(`count(count by (target) (synthetic_turns_total))`, many)
	is(`count(synthetic_build_info)`, 1)
	is(`max(synthetic_discovered_targets{group="chat"})`, many)
	is(`sum(up{job="targets"})`, many)
	name(few)
	is(`max(synthetic_discovered_targets{group="chat"})`, few)
	var result struct{ Result []json.RawMessage }
	if err := p.api(t, "query?query="+url.QueryEscape(`synthetic_turns_total{job="synthetic"}`), &result); err != nil || len(result.Result) > 0 {
		t.Error(errors.Join(err, fmt.Errorf("%d series of targets are scraped at /metrics as well", len(result.Result))))
	}
}
