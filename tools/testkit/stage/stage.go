// Package stage lets the real sidecar probe simulated deployments in virtual time, over
// connections in memory, and evaluates rules on its metrics.
package stage

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
)

// Scrape holds the metrics of the sidecar at one time.
type Scrape struct {
	At      time.Time
	Samples []promtest.Sample
}

// ScrapeEvery is the scrape interval of Play.
const ScrapeEvery = 15 * time.Second

// Play runs the deployment and the sidecar in virtual time and returns scrapes every 15 s.
// It must be called within a synctest bubble.
func Play(t *testing.T, cfg *config.Config, o simulate.Options, length time.Duration) []Scrape {
	t.Helper()
	wire := simulate.NewPipes()
	defer simulate.Serve(wire, simulate.New(o))()
	s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: wire.Dial})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	stop := Run(t, s)

	begin := time.Now()
	var out []Scrape
	for elapsed := time.Duration(0); elapsed < length; elapsed += ScrapeEvery {
		time.Sleep(time.Until(begin.Add(elapsed + ScrapeEvery)))
		out = append(out, Scrape{time.Now(), Samples(t, s)})
	}
	stop()
	return out
}

// Run runs a sidecar that serves over connections in memory until stopped.
func Run(t *testing.T, s *sidecar.Sidecar) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended, listen := make(chan error, 1), simulate.NewPipes()
	server := s.Server()
	go func() { ended <- s.Run(ctx, server, func() error { return server.Serve(listen) }) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Samples gathers the metrics that rules read.
func Samples(t *testing.T, s *sidecar.Sidecar) []promtest.Sample {
	t.Helper()
	return SamplesOf(t, s, func(name string) bool { return strings.HasPrefix(name, "synthetic_") })
}

// SamplesOf gathers some families.
func SamplesOf(t *testing.T, s *sidecar.Sidecar, keep func(name string) bool) []promtest.Sample {
	t.Helper()
	families, err := s.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	return promtest.Flatten(families, keep)
}

// Rules parses a configuration and generates its rule file.
func Rules(t *testing.T, text string) (*config.Config, []byte) {
	t.Helper()
	cfg, err := config.Parse("synthetic.yml", []byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	generated, err := rules.Generate(sidecar.RulesOf(cfg.Fleet))
	if err != nil {
		t.Fatal(err)
	}
	file, err := generated.PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	return cfg, file
}

// EverFired lists all alerts that fired.
func EverFired(firing map[time.Time][]string) string {
	seen := map[string]bool{}
	for _, names := range firing {
		for _, n := range names {
			seen[n] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}
