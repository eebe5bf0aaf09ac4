//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// remembered is longer than an Alertmanager keeps an alert that is not repeated (four
// minutes), and longer than a page lasts after its cause.
const remembered = 330 * time.Second

// startPair starts two probers of a deployment, each at half the rate.
func startPair(t *testing.T, d *deployment, more string) (first, second *sidecar) {
	t.Helper()
	half := strings.Replace(fmt.Sprintf(configuration, d.api()), "rate: 4", "rate: 2", 1) + more
	first, second = startConfigured(t, half), startConfigured(t, half)
	first.awaitTurns(t, 20)
	second.awaitTurns(t, 20)
	return first, second
}

// startPrometheusOf starts a Prometheus with the rules of a pair.
func startPrometheusOf(t *testing.T, first, second *sidecar, more ...string) *prometheus {
	t.Helper()
	p := startPrometheus(t, first.address+", "+second.address, first.generateRules(t), more...)
	p.awaitSample(t, "target_workload:synthetic_configured:max")
	return p
}

// watch runs check every second for length, or until it fails.
func watch(t *testing.T, length time.Duration, check func()) {
	t.Helper()
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); <-time.After(time.Second) {
		check()
	}
}

// TestPairPagesOnce stops the deployment of a pair, and then one prober of the pair.
// Whether Prometheus or each prober evaluates the rules, Alertmanager sends one
// notification, which is neither repeated nor resolved.
func TestPairPagesOnce(t *testing.T) {
	t.Parallel()
	t.Run("Prometheus evaluates", func(t *testing.T) {
		t.Parallel()
		d, am := startDeployment(t), startAlertmanager(t)
		first, second := startPair(t, d, "")
		startPrometheusOf(t, first, second, fmt.Sprintf("alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}", am.address))
		d.kill()
		checkOneCall(t, am, func() { first.kill() })
	})
	t.Run("each evaluates", func(t *testing.T) {
		t.Parallel()
		d, am := startDeployment(t), startAlertmanager(t)
		first, second := startPair(t, d, fmt.Sprintf("\nalerting: {interval: 1s, alertmanagers: [{url: %q}]}\n", am.root))
		d.kill()
		checkOneCall(t, am, func() {
			first.awaitTold(t, am)
			second.awaitTold(t, am)
			first.kill()
		})
	})
}

// targetDown returns the labels of an outage's alert without those of the prober.
func targetDown() map[string]string {
	return map[string]string{"alertname": "SyntheticTargetDown", "severity": "page", "target": "dynamo", "workload": "chat"}
}

// checkOneCall waits for the notification about an outage, calls lose, and checks that no
// other notification and no resolution follows.
func checkOneCall(t *testing.T, am *alertmanager, lose func()) {
	t.Helper()
	name := targetDown()["alertname"]
	am.pager.await(t, patience, "firing", []string{name}, am.process)
	lose()
	watch(t, remembered, func() {
		if got := am.pager.statuses(name); !slices.Equal(got, []string{"firing"}) {
			t.Errorf("notified as %v, want one notification", got)
		}
		if got := am.alerts(t, name); len(got) != 1 || !maps.Equal(got[0], targetDown()) {
			t.Errorf("Alertmanager has %v, want one %v", got, targetDown())
		}
	})
}

// awaitTold waits until the Alertmanager has the outage from this prober's own pager.
func (s *sidecar) awaitTold(t *testing.T, am *alertmanager) {
	t.Helper()
	await(t, patience, "an alert of the prober about the outage", func() error {
		p := s.paged(t)
		if !slices.Contains(p.firing(), identity(targetDown())) || p.Alertmanagers[0].Undelivered > 0 {
			return errors.New("it has not")
		}
		return nil
	}, s.process, am.process)
}
