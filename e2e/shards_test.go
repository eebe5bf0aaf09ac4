//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shardTargets is enough that each of three shards gets some targets.
const shardTargets = 12

// TestShardsHandOver: three processes, and later two, share the targets of one
// configuration. Within two minutes each target is probed by exactly one process again.
func TestShardsHandOver(t *testing.T) {
	t.Parallel()
	d := startDeployment(t)
	addresses := make([]string, 5)
	for i := range addresses {
		addresses[i], _ = freeAddress(t)
	}
	p := startPrometheus(t, strings.Join(addresses, ", "), "/nonexistent/*.yml")
	config := filepath.Join(t.TempDir(), "synthetic.yml")
	if err := os.WriteFile(config, []byte(shardedConfiguration(d)), 0o600); err != nil {
		t.Fatal(err)
	}
	three := make([]*process, 3)
	for i := range three {
		three[i] = startRun(t, config, addresses[i], fmt.Sprintf("--shard=prober-%d/3", i))
	}
	awaitOneProberEach(t, p)
	for _, s := range three {
		s.kill()
	}
	began := time.Now()
	for i := range 2 {
		startRun(t, config, addresses[3+i], fmt.Sprintf("--shard=%d/2", i))
	}
	awaitOneProberEach(t, p)
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("each target had one prober after %v", took)
	}
}

func shardedConfiguration(d *deployment) string {
	var b strings.Builder
	b.WriteString("targets:\n")
	for i := range shardTargets {
		fmt.Fprintf(&b, "  - {name: t%d, base_url: %q}\n", i, d.api())
	}
	b.WriteString(`workloads: [{name: chat, turns: {min: 2, max: 2}, prompt_tokens: 50, max_output_tokens: 8, think_time: {min: 0s, max: 1s}}]
traffic: [{workload: chat, arrival: {process: constant, rate: 0.3}}]
`)
	return b.String()
}

// awaitOneProberEach waits until exactly one process probes each target.
func awaitOneProberEach(t *testing.T, p *prometheus) {
	t.Helper()
	await(t, patience, "one prober for each target", func() error {
		probers := p.series(t, `count by (target) (rate(synthetic_turns_total{turn="first"}[20s]) > 0)`, "target")
		for i := range shardTargets {
			if name := fmt.Sprint("t", i); probers[name] != "1" {
				return fmt.Errorf("probers by target: %v", probers)
			}
		}
		return nil
	}, p.process)
}
