//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"testing"
)

// TestAgentForwards: an agent scrapes the sidecar and forwards the samples by remote write
// to a Prometheus with the rules, as in clusters whose own Prometheus stores nothing. The
// receiver fires the same alerts and has the same series, native histograms included, as a
// Prometheus that scrapes the sidecar itself.
func TestAgentForwards(t *testing.T) {
	t.Parallel()
	const native = "--enable-feature=native-histograms"
	d := startDeployment(t)
	s := startConfigured(t, fmt.Sprintf(configuration, d.api()))
	scraping := fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: synthetic
    static_configs: [{targets: [%s]}]
`, s.address)
	direct := runPrometheus(t, "--storage.tsdb.path", scraping, native)
	receiver := runPrometheus(t, "--storage.tsdb.path", fmt.Sprintf(`
global: {evaluation_interval: 1s}
rule_files: [%q]
`, s.generateRules(t)), native, "--web.enable-remote-write-receiver")
	runPrometheus(t, "--storage.agent.path", scraping+fmt.Sprintf(`
remote_write:
  - {url: "%s/api/v1/write", send_native_histograms: true}
`, receiver.root), "--enable-feature=agent,native-histograms")
	s.awaitTurns(t, 40)
	receiver.awaitSample(t, `target_workload_slo:synthetic_slo_burn:ratio_rate5m{slo="availability"} == 0`)
	if firing := receiver.firing(t); len(firing) != 0 {
		t.Errorf("alerts fire without a fault: %v", firing)
	}

	d.kill()
	receiver.awaitAlert(t, map[string]string{"alertname": "SyntheticTargetDown", "severity": "page", "target": "dynamo", "workload": "chat"})
	// From now on no turn has a first token, so that both Prometheus end with the same
	// values.
	for _, query := range []string{
		"histogram_count(synthetic_ttft_seconds)",
		"histogram_quantile(0.9, synthetic_ttft_seconds)",
	} {
		checkForwarded(t, query, direct, receiver)
	}
}

// checkForwarded waits until both Prometheus return the same values by kind of turn, and at
// least one.
func checkForwarded(t *testing.T, query string, direct, receiver *prometheus) {
	t.Helper()
	await(t, patience, query+" to arrive", func() error {
		want, got := direct.series(t, query, "turn"), receiver.series(t, query, "turn")
		if len(want) != 2 || !maps.Equal(want, got) {
			return fmt.Errorf("scraped %v, forwarded %v", want, got)
		}
		return nil
	}, direct.process, receiver.process)
	t.Logf("%s: %v", query, receiver.series(t, query, "turn"))
}
