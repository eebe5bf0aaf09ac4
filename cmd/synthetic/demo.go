package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/probe/lag"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate/demo"
)

// demoListen is where the demo's sidecar serves, unless it is taken.
const demoListen = "127.0.0.1:9877"

// demoFlags are the flags of "synthetic demo".
type demoFlags struct {
	listen   string
	seed     uint64
	scenario string
	grafana  bool
}

func addDemo(app *kingpin.Application) command {
	f := &demoFlags{}
	c := app.Command("demo", `Show everything on a simulated deployment; needs no arguments and no network.

Starts a simulated deployment on loopback and the sidecar against it, prints
where to look, and runs until Ctrl-C.`)
	c.Flag("web.listen-address", "Address of the status page and of /metrics (default "+demoListen+", or any free port if that is taken).").StringVar(&f.listen)
	c.Flag("seed", "Makes the simulated deployment's texts and delays repeatable.").Default("1").Uint64Var(&f.seed)
	c.Flag("scenario", "What happens: healthy; regression (prefill slows down); eagle3 (a drafter is switched on); outage (workers hang and are lost); kv-vs-rr (two routers side by side).").
		Default("healthy").EnumVar(&f.scenario, demo.Names()...)
	c.Flag("grafana", "Print how to see it in Grafana, and write what that takes into "+grafanaDir+" of this directory: alert rules, dashboards, a prometheus.yml.").BoolVar(&f.grafana)
	return command{c, f.run}
}

func (f *demoFlags) run(ctx context.Context, e env) error {
	web, err := f.webListener()
	if err != nil {
		return err
	}
	defer web.Close()
	show, err := demo.Named(f.scenario, f.seed)
	if err != nil {
		return usageError{err}
	}
	began := time.Now()
	addrs, stop, err := demo.Start(show.Targets)
	if err != nil {
		return err
	}
	defer stop()
	view := newLive(e.stdout)
	cfg, err := config.Parse("demo.yml", demo.ConfigFor(show.Targets, addrs), ".")
	if err != nil {
		return err
	}
	s, err := f.sidecar(e, show, cfg, view)
	if err != nil {
		return err
	}
	defer s.Close()
	f.welcome(e, web.Addr(), addrs)
	if f.grafana {
		if err := forGrafana(e, cfg, web.Addr()); err != nil {
			return err
		}
	}
	view.plan(show)
	viewCtx, stopView := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { view.follow(viewCtx, s.Status) })
	shown.Go(func() { show.Tell(viewCtx, began, func(text string) { view.say(event, text) }) })
	server := s.Server()
	err = s.Run(ctx, server, func() error { return server.Serve(s.Bounded(web)) })
	stopView()
	shown.Wait()
	return err
}

// sidecar probes the deployments and knows what is usual for them.
func (f *demoFlags) sidecar(e env, show demo.Scenario, cfg *config.Config, view *live) (*sidecar.Sidecar, error) {
	usual, err := demo.Baselines(show.Targets)
	if err != nil {
		return nil, err
	}
	s, err := sidecar.New(sidecar.Options{
		Logger: sidecar.Quiet(e.logger), Lag: lag.New(), // Ctrl-C ends turns at once
		OnAlert: newIncidents(view.say).tell,
	})
	if err != nil {
		return nil, err
	}
	s.Restore(usual.Until(time.Now()))
	return s, s.Apply(cfg)
}

// webListener takes the usual port or, unless told a port, any free one.
func (f *demoFlags) webListener() (net.Listener, error) {
	l, err := net.Listen("tcp", cmp.Or(f.listen, demoListen))
	if f.listen == "" && errors.Is(err, syscall.EADDRINUSE) {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listening for the status page: %w; choose another --web.listen-address", err)
	}
	return l, nil
}

func (f *demoFlags) welcome(e env, web net.Addr, addrs []string) {
	for _, addr := range addrs {
		fmt.Fprintf(e.stdout, "A simulated deployment serves http://%s/v1,\nand the sidecar probes it.\n", addr)
	}
	fmt.Fprintf(e.stdout, `
  status page   http://%[2]s/
  alerts        http://%[2]s/alerts
  metrics       http://%[2]s/metrics
  by hand       %[3]s probe --base-url http://%[1]s/v1

What is usual was learned beforehand; a prober of your own takes days for that.
Ctrl-C ends the demo. The first figures come within seconds.

`, addrs[0], web, os.Args[0])
}

// grafanaDir is where the demo writes what a Prometheus and a Grafana need.
const grafanaDir = "synthetic-demo"

// forGrafana writes what a Prometheus and a Grafana need to show the sidecar at
// web, and says how to start them.
func forGrafana(e env, cfg *config.Config, web net.Addr) error {
	alerts, err := (&generateFlags{}).rules(cfg)
	if err != nil {
		return err
	}
	boards, err := (&generateFlags{}).dashboards(cfg)
	if err != nil {
		return err
	}
	scrape := fmt.Sprintf(`global: {evaluation_interval: 15s}
scrape_configs:
  - job_name: synthetic
    scrape_interval: 5s
    static_configs: [{targets: [%q]}]
rule_files: [%s]
`, web, alerts[0].name)
	if err := writeAll(e, grafanaDir, append(boards, alerts[0], output{"prometheus.yml", []byte(scrape)})); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, `
In Grafana
  1. prometheus --config.file=%[1]s/prometheus.yml
  2. In Grafana add that as a data source: http://127.0.0.1:9090
  3. Dashboards, New, Import: each .json of %[1]s
All at once, in a clone: docker compose -f deploy/compose/compose.yaml up

`, grafanaDir)
	return nil
}
