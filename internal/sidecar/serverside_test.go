package sidecar_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe/target"
	"synthetic/internal/serverside"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// TestServerSideOfAPreset reads the server metrics of a simulated deployment as a sweep does. All
// figures exist and agree with the simulated model.
func TestServerSideOfAPreset(t *testing.T) {
	config, err := cluster.Preset("eagle3")
	if err != nil {
		t.Fatal(err)
	}
	config.Engine.Speculation.Acceptance = .5
	config.Engine.MaxSeqs = 16
	synctest.Test(t, func(t *testing.T) {
		wire := simulate.NewPipes()
		defer simulate.Serve(wire, simulate.New(simulate.Options{
			Model: "m", Seed: 1, Cluster: &config, Load: simulate.Load{Concurrency: 20, WarmUp: time.Minute},
		}))()
		c, err := serverside.NewClient(target.Target{Name: "a", BaseURL: "http://preset/v1", Model: "m"}, wire.Dial)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var samples []serverside.Sample
		for range 5 {
			s, err := c.Scrape(t.Context(), "http://preset/metrics")
			if err != nil {
				t.Fatal(err)
			}
			samples = append(samples, s)
			time.Sleep(time.Minute)
		}
		figures := serverside.Summarise("http://preset/metrics", samples).Figures
		for name, want := range map[string]struct{ low, high float64 }{
			serverside.KVHitRatio:      {.8, 1},
			serverside.SpecAcceptance:  {.25, .35}, // (.5 + .25 + .125) / 3
			serverside.QueueMean:       {3, 4},
			serverside.RunningMax:      {16, 16},
			serverside.KVUsageMean:     {.1, .5},
			serverside.OutputPerSecond: {300, 3000},
			serverside.TTFTP50:         {1, 20}, // a queue of 4 behind 16 places
			serverside.ITLP50:          {.02, .06},
		} {
			if got, ok := figures[name]; !ok || got < want.low || got > want.high {
				t.Errorf("%s is %v (exists: %v), want %v to %v", name, got, ok, want.low, want.high)
			}
		}
	})
}

// TestPageDrawsServerFigures: the page of a target draws the server's own figures if its metrics are read.
func TestPageDrawsServerFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		var err error
		if s.cfg, err = config.Parse("synthetic.yml", []byte(strings.Replace(alertsConfig, "model: m}", "model: m, server_metrics: {}}", 1)+forgetfulPager), "."); err != nil {
			t.Fatal(err)
		}
		prober, stop := s.begin()
		defer stop()
		time.Sleep(5 * time.Minute)
		_, page := read(prober, http.MethodGet, "/")
		for _, want := range []string{"server: requests", "server: KV cache in use"} {
			if !strings.Contains(page, "<title>"+want+"</title>") {
				t.Errorf("the page has no chart %q", want)
			}
		}
	})
}
