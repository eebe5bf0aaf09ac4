package sidecar_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// TestAnOutageIsConfirmedByABurst probes at the low default rate. After the first failure a burst of
// conversations gives three consecutive failures, which is an outage, within a minute; without the burst
// they would take one and a half.
func TestAnOutageIsConfirmedByABurst(t *testing.T) {
	const before, during = 10 * time.Minute, 5 * time.Minute
	config := strings.Replace(outcomesConfig, "process: poisson, rate: 0.33", "process: constant", 1)
	cfg, _ := stage.Rules(t, config)
	if known := sidecar.RulesOf(cfg.Fleet).Jobs[0].ConversationsPerMinute; math.Abs(known-2) > 0.05 {
		t.Errorf("the input of the rules has %v conversations a minute, want 2", known)
	}
	incident, err := simulate.ParseIncident("http_500,share=1,at=10m,for=5m")
	if err != nil {
		t.Fatal(err)
	}
	var scrapes []stage.Scrape
	synctest.Test(t, func(t *testing.T) {
		scrapes = stage.Play(t, cfg, simulate.Options{Seed: 1, Model: "m", Incidents: []simulate.Incident{incident}}, before+during)
	})
	value := func(d time.Duration, name, reason string) float64 {
		for _, s := range scrapes[int(d/stage.ScrapeEvery)-1].Samples {
			if s.Labels.Get("__name__") == name && (reason == "" || s.Labels.Get("reason") == reason) {
				return s.Value
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	if n := value(before, "synthetic_conversations_started_total", ""); n < 15 || n > 25 {
		t.Errorf("%v conversations in ten healthy minutes, want 20", n)
	}
	soon := before + time.Minute
	if n := value(soon, "synthetic_consecutive_failed_turns", ""); n < 3 {
		t.Errorf("%v consecutive failures a minute after the outage began", n)
	}
	if rate, bursts := value(soon, "synthetic_probe_rate_conversations_per_second", ""), value(soon, "synthetic_bursts_total", "failed"); rate != 0.2 || bursts != 1 {
		t.Errorf("%v conversations a second and %v bursts, want one burst of 0.2", rate, bursts)
	}
	if n := value(before+during, "synthetic_conversations_started_total", ""); n > 60 {
		t.Errorf("%v conversations: the burst has no end", n)
	}
}
