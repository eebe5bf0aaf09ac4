package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/demo"
	"synthetic/internal/sidecar"
)

// demoListen is where the demo's sidecar serves, unless it is taken.
const demoListen = "127.0.0.1:9877"

// demoFlags are the flags of "synthetic demo".
type demoFlags struct {
	listen   string
	seed     uint64
	scenario string
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
	s, err := f.sidecar(e, show, addrs, view)
	if err != nil {
		return err
	}
	defer s.Close()
	f.welcome(e, web.Addr(), addrs)
	fmt.Fprint(e.stdout, show.Plan())
	viewCtx, stopView := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { view.follow(viewCtx, s.Status) })
	shown.Go(func() { show.Tell(viewCtx, began, view.say) })
	server := sidecar.NewServer(s.Handler())
	err = s.Run(ctx, server, func() error { return server.Serve(web) })
	stopView()
	shown.Wait()
	return err
}

// sidecar probes the deployments and knows what is usual for them.
func (f *demoFlags) sidecar(e env, show demo.Scenario, addrs []string, view *live) (*sidecar.Sidecar, error) {
	usual, err := demo.Baselines(show.Targets)
	if err != nil {
		return nil, err
	}
	s, err := sidecar.New(sidecar.Options{
		Logger: sidecar.Quiet(e.logger), DrainTimeout: 2 * time.Second,
		OnAlert: func(c alerting.Transition) { view.say(alertLine(c)) },
	})
	if err != nil {
		return nil, err
	}
	s.Restore(usual)
	cfg, err := config.Parse("demo.yml", demo.ConfigFor(show.Targets, addrs), ".")
	if err != nil {
		return nil, err
	}
	return s, s.Apply(cfg)
}

// webListener takes the usual port or, unless told a port, any free one.
func (f *demoFlags) webListener() (net.Listener, error) {
	addr := f.listen
	if addr == "" {
		addr = demoListen
	}
	l, err := net.Listen("tcp", addr)
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
		fmt.Fprintf(e.stdout, "A simulated deployment serves http://%s/v1, and the sidecar probes it.\n", addr)
	}
	fmt.Fprintf(e.stdout, `
  status page   http://%[2]s/
  alerts        http://%[2]s/alerts
  metrics       http://%[2]s/metrics
  by hand       %[3]s probe --base-url http://%[1]s/v1

What is usual was learned beforehand; a prober of your own takes a day for that.
Ctrl-C ends the demo. The first figures come within seconds.

`, addrs[0], web, os.Args[0])
}

// alertLine is one alert in a terminal.
func alertLine(c alerting.Transition) string {
	what := "RESOLVED"
	if c.Firing {
		what = "FIRING"
	}
	words := []string{what, strings.ToUpper(c.Labels["severity"]), c.Labels["alertname"], "–", c.Annotations["summary"]}
	return strings.Join(words, " ")
}
