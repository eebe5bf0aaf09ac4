package demo

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// pagerInterval is how often the demo's pager scrapes and evaluates: "interval" in demo.yml.
const pagerInterval = 5 * time.Second

// demoRun describes a run of the demo in virtual time: its deployments, its configuration and the
// real sidecar, over in-memory connections.
type demoRun struct {
	targets   []Target
	baselines Baselines
	length    time.Duration
	// scrapeInterval is at least pagerInterval, which is the default.
	scrapeInterval time.Duration
	// acts happen to the first target.
	acts []stage.Act
}

// recording is what a run gave.
type recording struct {
	cfg     *config.Config
	began   time.Time
	scrapes []stage.Scrape
	jobs    map[string]status.Job // at the end, by target
	learned baseline.JobState     // of the first target, at the end
}

func (g demoRun) play(t *testing.T) recording {
	t.Helper()
	p := recording{jobs: map[string]status.Job{}}
	synctest.Test(t, func(t *testing.T) { g.playInBubble(t, &p) })
	return p
}

func (g demoRun) playInBubble(t *testing.T, p *recording) {
	p.began = time.Now()
	network := g.serve()
	defer network.Close()
	var err error
	if p.cfg, err = config.Parse("demo.yml", ConfigFor(g.targets, network.addrs), "."); err != nil {
		t.Fatal(err)
	}
	pager := p.cfg.Alerting
	p.cfg.Alerting = nil // the storage of the pager does not work in virtual time
	prober, err := sidecar.New(sidecar.Options{DrainTimeout: time.Second, Dial: network.Dial, Replica: g.replica()})
	if err != nil {
		t.Fatal(err)
	}
	prober.Restore(g.baselines.HistoryUntil(p.began))
	if err := prober.Apply(p.cfg); err != nil {
		t.Fatal(err)
	}
	p.cfg.Alerting = pager
	stop := stage.Run(t, prober)
	g.watch(t, prober, network, p)
	for _, j := range prober.Status().Jobs {
		p.jobs[j.Target] = j
	}
	p.learned = prober.Baselines().Jobs[0]
	stop()
}

// watch scrapes, and runs the acts at their times, until the end.
func (g demoRun) watch(t *testing.T, s *sidecar.Sidecar, network *demoNetwork, p *recording) {
	interval, acts := max(g.scrapeInterval, pagerInterval), g.acts
	keep := neededFamilies(t, p.cfg)
	for elapsed := time.Duration(0); elapsed < g.length; elapsed += interval {
		for len(acts) > 0 && acts[0].After <= elapsed {
			acts[0].Do(network.deployments[0], network.listeners[0])
			acts = acts[1:]
		}
		time.Sleep(time.Until(p.began.Add(elapsed + interval)))
		p.scrapes = append(p.scrapes, stage.Scrape{At: time.Now(), Samples: stage.SamplesOf(t, s, keep)})
	}
}

// readByTests returns families that tests read and no rule names.
func readByTests() []string {
	return []string{metrics.SignalTurns, metrics.SignalLog2, metrics.SignalBaselineLog2, metrics.PromptTokens, metrics.CachedPromptTokens}
}

// neededFamilies returns a function that reports whether a rule of the pager or a test reads a
// family. The pager stores no others, either.
func neededFamilies(t *testing.T, cfg *config.Config) func(family string) bool {
	t.Helper()
	files, err := sidecar.PagerRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	return func(family string) bool {
		needed, ok := known[family]
		if !ok {
			needed = bytes.Contains(files[0].Data, []byte(family)) || slices.Contains(readByTests(), family)
			known[family] = needed
		}
		return needed
	}
}

// demoNetwork serves the deployments of a run.
type demoNetwork struct {
	simulate.Network
	addrs       []string
	deployments []*simulate.Deployment
	listeners   []*simulate.Pipes
}

func (g demoRun) serve() *demoNetwork {
	n := &demoNetwork{}
	for _, target := range g.targets {
		d := simulate.New(target.Options)
		listener, _ := n.Serve(net.JoinHostPort(target.Name, "80"), d)
		n.addrs = append(n.addrs, target.Name)
		n.deployments, n.listeners = append(n.deployments, d), append(n.listeners, listener)
	}
	return n
}

// replica returns the name of the prober. It differs by seed, so that probes start at other times.
func (g demoRun) replica() string { return fmt.Sprint("seed ", g.targets[0].Options.Seed) }
