//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// alone is for how long the survivor of a pair is watched: longer than any window of
// the rules that notice a prober that is gone, but for those of hours.
const alone = 150 * time.Second

// TestPairLosesOne runs two probers of one deployment under one Prometheus and kills
// one. Nobody is called for it, and no figure has a gap.
func TestPairLosesOne(t *testing.T) {
	t.Parallel()
	d := startDeployment(t)
	half := strings.Replace(fmt.Sprintf(configuration, d.api()), "rate: 4", "rate: 2", 1)
	one, other := startConfigured(t, half), startConfigured(t, half)
	p := startPrometheus(t, one.address+", "+other.address, one.generateRules(t))
	one.awaitTurns(t, 40)
	other.awaitTurns(t, 40)
	p.awaitSample(t, "target_workload:synthetic_configured:max")
	checkNobodyIsCalled(t, p)

	const measured = "sum by (target) (rate(synthetic_turns_total[30s]))"
	p.awaitSample(t, measured)
	one.kill()
	for end := time.Now().Add(alone); time.Now().Before(end); <-time.After(time.Second) {
		checkNobodyIsCalled(t, p)
		if got := p.series(t, measured, "target"); got["dynamo"] == "" || got["dynamo"] == "0" {
			t.Errorf("a gap: turns a second are %v", got)
		}
		if t.Failed() {
			return
		}
	}
}

func checkNobodyIsCalled(t *testing.T, p *prometheus) {
	t.Helper()
	for _, labels := range p.firing(t) {
		if labels["severity"] == "page" {
			t.Errorf("somebody is called: %v", labels)
		}
	}
}
