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

// demoListen is the default address of the demo's sidecar.
const demoListen = "127.0.0.1:9877"

type demoFlags struct {
	listen   string
	seed     uint64
	scenario string
	grafana  bool
}

func addDemo(app *kingpin.Application) command {
	f := &demoFlags{}
	c := app.Command("demo", `Show everything with a simulated deployment, without a network.

It starts a simulated deployment and a sidecar that probes it, prints the
addresses of the pages, and runs until Ctrl-C. Example:
  synthetic demo --scenario=regression`)
	c.Flag("web.listen-address", "Address of the status page and of /metrics. Default: "+demoListen+", or a free port if it is in use.").StringVar(&f.listen)
	c.Flag("seed", "Seed of the simulated deployment's random texts and delays.").Default("1").Uint64Var(&f.seed)
	c.Flag("scenario", "One of healthy, regression (prefill slows down), eagle3 (a drafter for speculative decoding is switched on), outage (workers hang and are lost) and kv-vs-rr (two routers side by side).").
		Default("healthy").EnumVar(&f.scenario, demo.Names()...)
	c.Flag("grafana", "Write alert rules, dashboards and a prometheus.yml into the directory "+grafanaDir+", and print how to see the demo in Grafana.").BoolVar(&f.grafana)
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
	start := time.Now()
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
		if err := writeGrafana(e, cfg, web.Addr()); err != nil {
			return err
		}
	}
	view.plan(show)
	viewCtx, stopView := context.WithCancel(ctx)
	var views sync.WaitGroup
	views.Go(func() { view.follow(viewCtx, s.Status) })
	views.Go(func() { show.Announce(viewCtx, start, func(text string) { view.say(event, text) }) })
	server := s.Server()
	err = s.Run(ctx, server, func() error { return server.Serve(s.Bounded(web)) })
	stopView()
	views.Wait()
	return err
}

// sidecar returns a sidecar that probes the deployments, with learned baselines.
func (f *demoFlags) sidecar(e env, show demo.Scenario, cfg *config.Config, view *live) (*sidecar.Sidecar, error) {
	baselines, err := demo.LoadBaselines(show.Targets)
	if err != nil {
		return nil, err
	}
	s, err := sidecar.New(sidecar.Options{
		Logger: sidecar.Quiet(e.logger), Lag: lag.New(), // no DrainTimeout: Ctrl-C ends turns at once
		OnAlert: newIncidents(view.say).update,
	})
	if err != nil {
		return nil, err
	}
	s.Restore(baselines.HistoryUntil(time.Now()))
	return s, s.Apply(cfg)
}

// webListener listens on --web.listen-address. Without the flag it falls back to a free port.
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

The demo starts with learned baselines; a new sidecar learns them within days.
The first figures appear within seconds. Ctrl-C ends the demo.

`, addrs[0], web, os.Args[0])
}

// grafanaDir is the directory for --grafana.
const grafanaDir = "synthetic-demo"

// writeGrafana writes the files that Prometheus and Grafana need to show the sidecar at web,
// and prints how to use them.
func writeGrafana(e env, cfg *config.Config, web net.Addr) error {
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
  2. In Grafana, add the data source http://127.0.0.1:9090
  3. Dashboards, New, Import: each .json file of %[1]s
Or, in a checkout of the source: docker compose -f deploy/compose/compose.yaml up

`, grafanaDir)
	return nil
}
