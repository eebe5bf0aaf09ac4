package demo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// TestScenarios checks that no alert fires before the incident of a scenario, and that the incident
// pages within minutes and names the right part.
func TestScenarios(t *testing.T) {
	for name, want := range map[string]page{
		"healthy":    {},
		"kv-vs-rr":   {},
		"regression": {alert: "SyntheticRegression", signal: "ttft", turn: "first", part: "queue_prefill"},
		"eagle3":     {alert: "SyntheticRegression", signal: "tpot", turn: "followup", part: "decode"},
		"outage":     {alert: "SyntheticSLOFastBurn", slo: "availability"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "regression" && name != "outage" {
				t.Skip("the other scenarios run in make test-long; these two also start with a healthy minute")
			}
			t.Parallel()
			p := runOf(t, name, 1, 10*time.Minute).play(t)
			pages := p.pages(t)
			if name == "kv-vs-rr" {
				routersDiffer(t, p.jobs)
			}
			found := slices.IndexFunc(pages, func(g page) bool {
				return g.alert == want.alert && g.signal == want.signal && g.turn == want.turn && g.slo == want.slo && (want.part == "" || g.part == want.part)
			})
			for _, g := range pages {
				if want.alert == "" || g.first < pause {
					t.Errorf("before the incident: %s", g)
				}
			}
			if want.alert == "" {
				return
			}
			if found < 0 {
				t.Fatalf("the alerts %v do not include %s", pages, want)
			}
			t.Logf("fired after %v; all alerts: %v", pages[found].first-pause, pages)
		})
	}
}

// runOf returns a run of a scenario with its baselines.
func runOf(t *testing.T, name string, seed uint64, length time.Duration) demoRun {
	t.Helper()
	s, err := Named(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	baselines, err := LoadBaselines(s.Targets)
	if err != nil {
		t.Fatal(err)
	}
	return demoRun{targets: s.Targets, baselines: baselines, length: length}
}

// routersDiffer checks that KV-aware routing finds more cached tokens than round robin.
func routersDiffer(t *testing.T, jobs map[string]status.Job) {
	t.Helper()
	kv, rr := jobs["kv-aware"].Recent.Cached, jobs["round-robin"].Recent.Cached
	if kv.V < rr.V+.1 {
		t.Errorf("the KV-aware router finds %v of the prompts cached, round-robin %v", kv, rr)
	}
}

func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Scenario{Targets: []Target{{}}}.
			withIncident("slow prefill", simulate.Incident{Kind: cluster.SlowPrefill, Factor: 4, At: time.Minute, For: 90 * time.Second}).
			withIncident("slow decoding", simulate.Incident{Kind: cluster.SlowDecode, Factor: 2, At: 150 * time.Second, For: time.Minute})
		began := time.Now()
		var announced []string
		s.Announce(t.Context(), began, func(line string) { announced = append(announced, time.Since(began).String()+" "+line) })
		want := []string{
			"40s in 20s: slow prefill",
			"1m0s now: slow prefill",
			"2m10s in 20s: slow decoding",
			"2m30s now: the incident ends",
			"2m30s now: slow decoding",
			"3m30s now: the incident ends",
		}
		if !slices.Equal(announced, want) {
			t.Errorf("announced %q, want %q", announced, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Announce(ctx, time.Now(), func(line string) { t.Errorf("announced %q after the end", line) })
	})
}

func TestScenariosAreValid(t *testing.T) {
	for _, s := range scenarios() {
		for _, target := range s.Targets {
			if err := target.Options.Validate(); err != nil {
				t.Errorf("%s: %s: %v", s.Name, target.Name, err)
			}
		}
		if !strings.HasSuffix(s.About, ".") {
			t.Errorf("%s: %q does not end with a full stop", s.Name, s.About)
		}
	}
}
