package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
)

// demoTick is how often the demo's pager gathers and evaluates: "interval" in
// demo.yml.
const demoTick = 5 * time.Second

// stage is the demo in virtual time: its deployments, its configuration and the
// real sidecar, over connections in memory.
type stage struct {
	targets   []demoTarget
	baselines regression.File
	length    time.Duration
	// every is the time between two scrapes; 0 is the demo's own.
	every time.Duration
	// acts happen to the first target.
	acts []act
	// unseen leaves the scrapes out.
	unseen bool
}

// played is what was seen of a stage.
type played struct {
	cfg     *config.Config
	began   time.Time
	scrapes []scrape
	jobs    map[string]status.Job // at the end, by target
	learned regression.File       // at the end
}

// play plays a stage to its end.
func (g stage) play(t *testing.T) played {
	t.Helper()
	p := played{jobs: map[string]status.Job{}}
	synctest.Test(t, func(t *testing.T) { g.playNow(t, &p) })
	return p
}

// playNow plays within a bubble.
func (g stage) playNow(t *testing.T, p *played) {
	p.began = time.Now()
	h, err := g.house()
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if p.cfg, err = config.Parse("demo.yml", demoConfigFor(g.targets, h.at), "."); err != nil {
		t.Fatal(err)
	}
	pages := p.cfg.Alerting
	p.cfg.Alerting = nil // its storage has no virtual time
	sidecar, err := newSidecar(sidecarOptions{logger: slog.New(slog.DiscardHandler), drainTimeout: time.Second, dial: h.dial, replica: g.replica()})
	if err != nil {
		t.Fatal(err)
	}
	sidecar.recorder.RestoreBaselines(g.baselines)
	if err := sidecar.apply(p.cfg); err != nil {
		t.Fatal(err)
	}
	p.cfg.Alerting = pages
	sidecar.recorder.SetReload(true, time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 2)
	go func() { ran <- sidecar.scheduler.Run(ctx) }()
	go func() { ran <- sidecar.servers.Run(ctx) }()
	g.watch(t, sidecar, h, p)
	for _, j := range sidecar.page.Snapshot().Jobs {
		p.jobs[j.Target] = j
	}
	p.learned = sidecar.recorder.Baselines()
	cancel()
	for range cap(ran) {
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

// watch scrapes, and lets things happen, until the stage is over.
func (g stage) watch(t *testing.T, s *sidecar, h *house, p *played) {
	every, acts := max(g.every, demoTick), g.acts
	keep := readByRules(t, p.cfg)
	for elapsed := time.Duration(0); elapsed < g.length; elapsed += every {
		for len(acts) > 0 && acts[0].after <= elapsed {
			acts[0].do(h.deployments[0], h.wires[0])
			acts = acts[1:]
		}
		time.Sleep(time.Until(p.began.Add(elapsed + every)))
		if !g.unseen {
			p.scrapes = append(p.scrapes, scrape{time.Now(), s.samplesOf(t, keep)})
		}
	}
}

// readByRules says of a family whether the pager's rules name it: the others
// are not stored by the pager, either.
func readByRules(t *testing.T, cfg *config.Config) func(family string) bool {
	t.Helper()
	files, err := pagerRules(cfg)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	return func(family string) bool {
		named, ok := known[family]
		if !ok {
			named = bytes.Contains(files[0].Data, []byte(family))
			known[family] = named
		}
		return named
	}
}

// samplesOf gathers some families.
func (s *sidecar) samplesOf(t *testing.T, keep func(name string) bool) []promtest.Sample {
	t.Helper()
	families, err := s.recorder.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return promtest.Flatten(families, keep)
}

// house holds the deployments of a stage.
type house struct {
	at          []*deployment // addresses alone
	deployments []*simulate.Deployment
	wires       []*pipes
	byAddr      map[string]*pipes
	stops       []func()
}

func (g stage) house() (*house, error) {
	h := &house{byAddr: map[string]*pipes{}}
	for _, target := range g.targets {
		d, wire := simulate.New(target.options), newPipes()
		h.at = append(h.at, &deployment{addr: target.name})
		h.deployments, h.wires = append(h.deployments, d), append(h.wires, wire)
		h.byAddr[net.JoinHostPort(target.name, "80")] = wire
		server := newServer(d)
		served := make(chan error, 1)
		go func() { served <- server.Serve(wire) }()
		h.stops = append(h.stops, func() { _ = server.Close(); <-served })
	}
	return h, nil
}

func (h *house) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return h.byAddr[addr].dial(ctx, network, addr)
}

func (h *house) close() {
	for _, stop := range h.stops {
		stop()
	}
}

// replica makes the probes of another seed come at other times.
func (g stage) replica() string { return fmt.Sprint("seed ", g.targets[0].options.Seed) }
