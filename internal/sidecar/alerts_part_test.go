package sidecar_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

// TestRegressionNamesTheLikelyPart slows a deployment in its first week, and reads the
// description of the page.
func TestRegressionNamesTheLikelyPart(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates four hours twice; make test-long runs it")
	}
	const healthy, broken = 4 * time.Hour, 10 * time.Minute
	for _, tc := range []struct {
		name   string
		fault  func(*simulate.Options)
		signal string
		want   []string
	}{
		{"slow first token", func(o *simulate.Options) { o.FirstToken.Median = 5 * time.Second }, "ttft",
			[]string{"Likely part: queue_prefill (+", "times the usual of this time of the week ("}},
		{"slow decode", func(o *simulate.Options) { o.InterToken.Median = 400 * time.Millisecond }, "tpot",
			[]string{"Likely part: decode (+", "times the usual of this time of the week ("}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, ruleFile := stage.Rules(t, alertsConfig+"  - {name: tpot, sli: tpot, threshold: 60ms, objective: 99%}\n")
			var scrapes []stage.Scrape
			synctest.Test(t, func(t *testing.T) {
				scrapes = stage.Play(t, cfg, healthyOptions(), healthy+broken,
					stage.Act{After: healthy, Do: func(d *simulate.Deployment, _ *simulate.Pipes) { d.Update(tc.fault) }})
			})
			server := promtest.New(t, ruleFile, 15*time.Second)
			paged := time.Duration(0)
			text := ""
			for _, s := range scrapes {
				server.Scrape(s.At, "prober", s.Samples)
				if s.At.Sub(scrapes[0].At) < healthy-time.Hour {
					continue // no rule about regressions reads a longer window
				}
				server.Evaluate(s.At)
				for _, a := range server.Alerts() {
					if a.Labels.Get("alertname") != "SyntheticRegression" || !strings.HasPrefix(a.Annotations.Get("description"), "Over five minutes "+tc.signal) {
						continue
					}
					if paged == 0 {
						paged = s.At.Sub(scrapes[0].At) - healthy
					}
					text = a.Annotations.Get("description")
				}
			}
			if paged <= 0 || paged > 6*time.Minute {
				t.Errorf("paged %v after the fault, want within 6 min", paged)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("the page reads %q, want %q in it", text, want)
				}
			}
		})
	}
}
