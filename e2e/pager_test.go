//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// deployment is "synthetic simulate" on an address that stays the same over restarts.
type deployment struct {
	*process
	address string
	flags   []string
}

func startDeployment(t *testing.T, flags ...string) *deployment {
	t.Helper()
	d := &deployment{flags: flags}
	d.address, _ = freeAddress(t)
	d.restart(t)
	return d
}

func (d *deployment) restart(t *testing.T) {
	t.Helper()
	d.process = start(t, "simulate", nil, append([]string{binary(t), "simulate", "--web.listen-address=" + d.address}, d.flags...)...)
	awaitAnswer(t, d.process, d.api()+"/models")
}

func (d *deployment) api() string { return "http://" + d.address + "/v1" }

// paged are the alerts of the sidecar's /api/status.
type paged struct {
	Rules []struct {
		Name, Error string
		Alerts      []struct {
			State  string
			Labels map[string]string
		}
	}
	Alertmanagers []struct {
		Undelivered int
		Error       string
	}
}

func (s *sidecar) paged(t *testing.T) paged {
	t.Helper()
	body, err := get(t.Context(), "http://"+s.address+"/api/status")
	if err != nil {
		t.Fatal(err)
	}
	var status struct{ Alerts paged }
	if err := json.Unmarshal(body, &status); err != nil {
		t.Fatal(err)
	}
	p := status.Alerts
	for _, r := range p.Rules {
		if r.Error != "" {
			t.Errorf("the rule %s cannot be evaluated: %s", r.Name, r.Error)
		}
	}
	return p
}

// firing returns the identities of the firing alerts.
func (p paged) firing() []string {
	var out []string
	for _, r := range p.Rules {
		for _, a := range r.Alerts {
			if a.State == "firing" {
				out = append(out, identity(a.Labels))
			}
		}
	}
	slices.Sort(out)
	return out
}

// identity joins the labels that distinguish alerts, without those of the prober.
func identity(labels map[string]string) string {
	var parts []string
	for _, name := range []string{"alertname", "severity", "target", "workload", "slo", "turn"} {
		if v := labels[name]; v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, " ")
}

// TestPagerAndAlertmanager breaks a deployment while Alertmanager is down. The page has to
// arrive once Alertmanager is back, consequences of the outage must not be notified during
// or after it, and the repair has to be notified, too.
func TestPagerAndAlertmanager(t *testing.T) {
	t.Parallel()
	d, am := startDeployment(t), startAlertmanager(t)
	text := fmt.Sprintf(configuration, d.api()) + fmt.Sprintf(`
alerting:
  interval: 1s
  alertmanagers: [{url: %q}]
  external_labels: {cluster: e2e}
  external_url: https://synthetic.example.com
`, am.root)
	s := startConfigured(t, text)
	s.awaitTurns(t, 20)
	if firing := s.paged(t).firing(); len(firing) != 0 {
		t.Errorf("alerts fire without a fault: %v", firing)
	}

	am.kill()
	d.kill()
	await(t, patience, "an alert that cannot be delivered", func() error {
		p := s.paged(t)
		if len(p.firing()) == 0 || p.Alertmanagers[0].Undelivered == 0 || p.Alertmanagers[0].Error == "" {
			return fmt.Errorf("firing %v, Alertmanager %+v", p.firing(), p.Alertmanagers)
		}
		return nil
	}, s.process)
	am.restart(t)
	// On a busy machine the outage may be detected first; it inhibits the burn alert.
	page := am.pager.await(t, patience, "firing", []string{"SyntheticSLOFastBurn", "SyntheticTargetDown"}, s.process, am.process)
	if page.path != "/pages" || page.GroupLabels["target"] != "dynamo" {
		t.Errorf("the page went to %s, grouped by %v", page.path, page.GroupLabels)
	}
	if l := page.Alerts[0].Labels; l["cluster"] != "e2e" || page.Alerts[0].Annotations["summary"] == "" {
		t.Errorf("the page lacks the external label or its summary: %+v", page.Alerts[0])
	}

	am.pager.await(t, patience, "firing", []string{"SyntheticTargetDown"}, s.process, am.process)
	d.restart(t)
	am.pager.await(t, 9*time.Minute, "resolved", []string{"SyntheticTargetDown"}, s.process, am.process)
	calls := am.pager.calls()
	// The windows of the burn rates contain the outage for longer than the page lasted.
	await(t, 9*time.Minute, "the end of all alerts", func() error {
		if firing := s.paged(t).firing(); len(firing) > 0 {
			return fmt.Errorf("%v fire", firing)
		}
		return nil
	}, s.process)
	if after := am.pager.calls(); !slices.Equal(after, calls) {
		t.Errorf("a notification after the end of the outage: %v, before %v", after, calls)
	}
	for _, alert := range calls {
		if alert != "SyntheticTargetDown" && alert != "SyntheticSLOFastBurn" {
			t.Errorf("the outage also caused a notification of %s", alert)
		}
	}
}

// TestPagerFiresAsPrometheus runs the shipped example under a real Prometheus with the
// shipped rules and breaks one of its two deployments. Prometheus and the sidecar's own
// pager have to fire the same alerts.
func TestPagerFiresAsPrometheus(t *testing.T) {
	t.Parallel()
	broken, healthy := startDeployment(t), startDeployment(t)
	example, err := os.ReadFile("../examples/synthetic.yml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("127.0.0.1:8000", broken.address, "127.0.0.1:8001", healthy.address).Replace(string(example))
	s := startConfigured(t, text+"\nalerting: {interval: 1s}\n")
	rules, err := filepath.Abs("../alerts/synthetic-*.yml")
	if err != nil {
		t.Fatal(err)
	}
	p := startPrometheus(t, s.address, rules)
	s.awaitTurns(t, 10)

	broken.kill()
	var before []string
	await(t, patience, "the same alerts in Prometheus and in the pager", func() error {
		theirs := []string{}
		firing, err := p.tryFiring(t)
		if err != nil {
			return err
		}
		for _, labels := range firing {
			theirs = append(theirs, identity(labels))
		}
		slices.Sort(theirs)
		ours := s.paged(t).firing()
		switch {
		case !slices.ContainsFunc(ours, func(a string) bool { return strings.HasPrefix(a, "SyntheticTargetDown") }):
			return fmt.Errorf("the outage caused no alert: %v", ours)
		case !slices.Equal(ours, theirs):
			return fmt.Errorf("the pager fires %v, Prometheus %v", ours, theirs)
		}
		before = ours
		return nil
	}, s.process, p.process)
	t.Logf("both fire %v", before)
	for _, a := range before {
		if strings.Contains(a, "canary") {
			t.Errorf("%q fires for the healthy deployment", a)
		}
	}
}

// TestShippedRules checks and tests the shipped rules with the promtool of each version, with and without the labels of
// the feature type-and-unit-labels.
func TestShippedRules(t *testing.T) {
	text, err := os.ReadFile("testdata/rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs("../alerts/synthetic-rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	tools := []string{cached(t, "prometheus", "usr", "bin", "promtool")}
	for _, v := range prometheusVersions {
		tools = append(tools, cached(t, "prometheus-"+v.number, "promtool"))
	}
	for _, tool := range tools {
		if out, err := command(t, tool, "check", "rules", rules); err != nil {
			t.Errorf("%s: %v\n%s", tool, err, out)
		}
		for name, labels := range map[string]*strings.Replacer{
			"no labels": strings.NewReplacer("RULES", rules, "GAUGE", "", "COUNTER", "", "SECONDS", ""),
			"labels": strings.NewReplacer("RULES", rules, "GAUGE", `,__type__="gauge"`, "COUNTER", `,__type__="counter"`,
				"SECONDS", `,__type__="gauge",__unit__="seconds"`),
		} {
			file := filepath.Join(t.TempDir(), "test.yml")
			if err := os.WriteFile(file, []byte(labels.Replace(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := command(t, tool, "test", "rules", file); err != nil {
				t.Errorf("%s, %s: %v\n%s", tool, name, err, out)
			}
		}
	}
}
