package demo

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// pagerInterval is how often the demo's pager scrapes and evaluates: "interval" in demo.yml.
const pagerInterval = 5 * time.Second

// demoRun describes a run of the demo in virtual time: its deployments, its configuration and the
// real sidecar, over in-memory connections.
type demoRun struct {
	options  simulate.Options
	baseline Baseline
	length   time.Duration
	// scrapeInterval is at least pagerInterval, which is the default.
	scrapeInterval time.Duration
}

// recording is what a run gave.
type recording struct {
	cfg     *config.Config
	began   time.Time
	scrapes []stage.Scrape
	learned watch.JobState // at the end
}

func (g demoRun) play(t *testing.T) recording {
	t.Helper()
	var p recording
	synctest.Test(t, func(t *testing.T) { g.playInBubble(t, &p) })
	return p
}

func (g demoRun) playInBubble(t *testing.T, p *recording) {
	p.began = time.Now()
	var network simulate.Network
	defer network.Close()
	network.Serve("demo:80", simulate.New(g.options))
	var err error
	if p.cfg, err = config.Parse("demo.yml", Config("demo"), "."); err != nil {
		t.Fatal(err)
	}
	pager := p.cfg.Alerting
	p.cfg.Alerting = nil // the storage of the pager does not work in virtual time
	prober, err := sidecar.New(sidecar.Options{DrainTimeout: time.Second, Dial: network.Dial, Replica: fmt.Sprint("seed ", g.options.Seed)})
	if err != nil {
		t.Fatal(err)
	}
	if g.baseline.State.Target != "" {
		prober.Restore(g.baseline.HistoryUntil(p.began))
	}
	if err := prober.Apply(p.cfg); err != nil {
		t.Fatal(err)
	}
	p.cfg.Alerting = pager
	stop := stage.Run(t, prober)
	g.watch(t, prober, p)
	p.learned = prober.Baselines().Jobs[0]
	stop()
}

// watch scrapes until the end.
func (g demoRun) watch(t *testing.T, s *sidecar.Sidecar, p *recording) {
	interval := max(g.scrapeInterval, pagerInterval)
	keep := neededFamilies(t, p.cfg)
	for elapsed := time.Duration(0); elapsed < g.length; elapsed += interval {
		time.Sleep(time.Until(p.began.Add(elapsed + interval)))
		p.scrapes = append(p.scrapes, stage.Scrape{At: time.Now(), Samples: stage.SamplesOf(t, s, keep)})
	}
}

// readByTests returns families that tests read and no rule names.
func readByTests() []string {
	return []string{metrics.SignalTurns, metrics.SignalLog2, metrics.Baseline}
}

// neededFamilies returns a function that reports whether a rule of the pager or a test reads a
// family. The pager stores no others, either.
func neededFamilies(t *testing.T, cfg *config.Config) func(family string) bool {
	t.Helper()
	text, err := sidecar.PagerRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	return func(family string) bool {
		needed, ok := known[family]
		if !ok {
			needed = bytes.Contains(text, []byte(family)) || slices.Contains(readByTests(), family)
			known[family] = needed
		}
		return needed
	}
}
