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

// demoTick is how often the demo's pager gathers and evaluates: "interval" in
// demo.yml.
const demoTick = 5 * time.Second

// demoRun is the demo in virtual time: its deployments, its configuration and the
// real sidecar, over connections in memory.
type demoRun struct {
	targets   []Target
	baselines Usual
	length    time.Duration
	// every is the time between two scrapes; 0 is the demo's own.
	every time.Duration
	// acts happen to the first target.
	acts []stage.Act
}

// played is what was seen of a stage.
type played struct {
	cfg     *config.Config
	began   time.Time
	scrapes []stage.Scrape
	jobs    map[string]status.Job // at the end, by target
	learned baseline.JobState     // of the first target, at the end
}

// play plays a stage to its end.
func (g demoRun) play(t *testing.T) played {
	t.Helper()
	p := played{jobs: map[string]status.Job{}}
	synctest.Test(t, func(t *testing.T) { g.playNow(t, &p) })
	return p
}

// playNow plays within a bubble.
func (g demoRun) playNow(t *testing.T, p *played) {
	p.began = time.Now()
	h := g.house()
	defer h.Close()
	var err error
	if p.cfg, err = config.Parse("demo.yml", ConfigFor(g.targets, h.at), "."); err != nil {
		t.Fatal(err)
	}
	pages := p.cfg.Alerting
	p.cfg.Alerting = nil // its storage has no virtual time
	prober, err := sidecar.New(sidecar.Options{DrainTimeout: time.Second, Dial: h.Dial, Replica: g.replica()})
	if err != nil {
		t.Fatal(err)
	}
	prober.Restore(g.baselines.Until(p.began))
	if err := prober.Apply(p.cfg); err != nil {
		t.Fatal(err)
	}
	p.cfg.Alerting = pages
	stop := stage.Run(t, prober)
	g.watch(t, prober, h, p)
	for _, j := range prober.Status().Jobs {
		p.jobs[j.Target] = j
	}
	p.learned = prober.Baselines().Jobs[0]
	stop()
}

// watch scrapes, and lets things happen, until the stage is over.
func (g demoRun) watch(t *testing.T, s *sidecar.Sidecar, h *house, p *played) {
	every, acts := max(g.every, demoTick), g.acts
	keep := readByRules(t, p.cfg)
	for elapsed := time.Duration(0); elapsed < g.length; elapsed += every {
		for len(acts) > 0 && acts[0].After <= elapsed {
			acts[0].Do(h.deployments[0], h.wires[0])
			acts = acts[1:]
		}
		time.Sleep(time.Until(p.began.Add(elapsed + every)))
		p.scrapes = append(p.scrapes, stage.Scrape{At: time.Now(), Samples: stage.SamplesOf(t, s, keep)})
	}
}

// readByTests are families that no rule names.
func readByTests() []string {
	return []string{metrics.SignalTurns, metrics.SignalLog2, metrics.SignalBaselineLog2, metrics.PromptTokens, metrics.CachedPromptTokens}
}

// readByRules says of a family whether the pager's rules name it, or a test: the
// others are not stored by the pager, either.
func readByRules(t *testing.T, cfg *config.Config) func(family string) bool {
	t.Helper()
	files, err := sidecar.PagerRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	return func(family string) bool {
		named, ok := known[family]
		if !ok {
			named = bytes.Contains(files[0].Data, []byte(family)) || slices.Contains(readByTests(), family)
			known[family] = named
		}
		return named
	}
}

// house holds the deployments of a stage.
type house struct {
	simulate.Network
	at          []string // addresses
	deployments []*simulate.Deployment
	wires       []*simulate.Pipes
}

func (g demoRun) house() *house {
	h := &house{}
	for _, target := range g.targets {
		d := simulate.New(target.Options)
		wire, _ := h.Serve(net.JoinHostPort(target.Name, "80"), d)
		h.at = append(h.at, target.Name)
		h.deployments, h.wires = append(h.deployments, d), append(h.wires, wire)
	}
	return h
}

// replica makes the probes of another seed come at other times.
func (g demoRun) replica() string { return fmt.Sprint("seed ", g.targets[0].Options.Seed) }
