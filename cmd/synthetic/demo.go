package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/probe/lag"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate/demo"
	"synthetic/internal/slo"
)

// demoListen is the default address of the demo's sidecar.
const demoListen = "127.0.0.1:9877"

type demoFlags struct {
	listen   string
	seed     uint64
	scenario string
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
	view.plan(show)
	viewCtx, stopView := context.WithCancel(ctx)
	var views sync.WaitGroup
	views.Go(func() { view.follow(viewCtx, s.Status) })
	views.Go(func() { show.Announce(viewCtx, start, func(text string) { view.say(event, text) }) })
	server := s.Server()
	err = s.Run(ctx, server, func() error { return server.Serve(s.Bounded(web)) })
	stopView()
	views.Wait()
	if err == nil {
		f.summarize(e, s.Status())
	}
	return err
}

// summarize prints the result of the demo and what to try next.
func (f *demoFlags) summarize(e env, s status.Snapshot) {
	ran := s.At.Sub(s.Started).Round(time.Second)
	fmt.Fprintf(e.stdout, "\nThe demo ran for %s.\n\n", slo.FormatDuration(ran))
	for _, j := range s.Jobs {
		span := min(ran, j.Recent.Span.V.Round(time.Second))
		first, followup := j.Recent.First.TTFT, j.Recent.Followup.TTFT
		fmt.Fprintf(e.stdout, "%s/%s  %s, %d failed\n  TTFT in the last %s\n", j.Target, j.Workload,
			count(j.Turns-j.Canceled, "turn"), j.Failed, slo.FormatDuration(span))
		fmt.Fprintf(e.stdout, "    first turns  p50 %s, p99 %s\n    follow-ups   p50 %s, p99 %s\n",
			first.P50, first.P99, followup.P50, followup.P99)
	}
	next := "regression"
	if f.scenario == next {
		next = "outage"
	}
	fmt.Fprintf(e.stdout, `
Try next
  a fault and its page       %s
  your own deployment        %s
  a configuration for it     %s
`, commandLine("demo", "--scenario="+next), commandLine("probe", "--base-url", "http://127.0.0.1:8000/v1"),
		commandLine("init", "--base-url", "http://127.0.0.1:8000/v1"))
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
	l, err := listen("web.listen-address", cmp.Or(f.listen, demoListen))
	if f.listen == "" && errors.Is(err, syscall.EADDRINUSE) {
		return listen("web.listen-address", "127.0.0.1:0")
	}
	return l, err
}

func (f *demoFlags) welcome(e env, web net.Addr, addrs []string) {
	for _, addr := range addrs {
		fmt.Fprintf(e.stdout, "A simulated deployment serves http://%s/v1,\nand the sidecar probes it.\n", addr)
	}
	fmt.Fprintf(e.stdout, `
  status page   http://%[1]s/
  alerts        http://%[1]s/alerts
  metrics       http://%[1]s/metrics
  by hand       %[2]s

The demo starts with learned baselines; a new sidecar learns them within days.
The first figures appear within seconds. Ctrl-C ends the demo.

`, web, commandLine("probe", "--base-url", "http://"+addrs[0]+"/v1"))
}
