package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
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
	"synthetic/internal/probe/lag"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/status"
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
	server := s.Server()
	err = s.Run(ctx, server, func() error { return server.Serve(s.Bounded(web)) })
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
		Logger: sidecar.Quiet(e.logger), DrainTimeout: 2 * time.Second, Lag: lag.New(),
		OnAlert: func(c alerting.Transition) { view.say(alertLine(c)) },
	})
	if err != nil {
		return nil, err
	}
	s.Restore(usual.Until(time.Now()))
	cfg, err := config.Parse("demo.yml", demo.ConfigFor(show.Targets, addrs), ".")
	if err != nil {
		return nil, err
	}
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
		fmt.Fprintf(e.stdout, "A simulated deployment serves http://%s/v1, and the sidecar probes it.\n", addr)
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

func alertLine(c alerting.Transition) string {
	what := "RESOLVED"
	switch {
	case c.Firing:
		what = "FIRING"
	case c.GoesOnAs != "":
		what = "GOES ON as " + c.GoesOnAs + ":"
	}
	words := []string{what, strings.ToUpper(c.Labels["severity"]), c.Labels["alertname"], "–", c.Annotations["summary"]}
	return strings.Join(words, " ")
}

// noWrap and wrap switch a terminal's line wrapping: what a narrow one wraps
// would be more lines than erase knows of.
const noWrap, wrap = "\x1b[?7l", "\x1b[?7h"

// live shows the jobs' figures in a terminal: a block that is redrawn in
// place, or, where the output is no terminal, a block now and then.
type live struct {
	w        io.Writer
	terminal bool
	every    time.Duration

	mu    sync.Mutex
	lines int // of the block that stands on the screen
}

func newLive(w io.Writer) *live {
	v := &live{w: w, every: 5 * time.Second}
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			v.terminal, v.every = true, time.Second
		}
	}
	return v
}

// follow draws what snapshot returns until ctx is done.
func (v *live) follow(ctx context.Context, snapshot func() status.Snapshot) {
	ticker := time.NewTicker(v.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			v.draw(snapshot())
		}
	}
}

// say writes a line that stays, above the block of figures.
func (v *live) say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	_, _ = fmt.Fprintf(v.w, "%s  %s\n\n", time.Now().Format(time.TimeOnly), line)
}

// erase takes the block off the screen; the next draw puts it back.
func (v *live) erase() {
	if v.lines > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.lines)
		v.lines = 0
	}
}

func (v *live) draw(s status.Snapshot) {
	var b strings.Builder
	for _, j := range s.Jobs {
		writeJob(&b, j)
	}
	text := b.String()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.terminal {
		v.lines = strings.Count(text, "\n")
		text = noWrap + text + wrap
	}
	_, _ = io.WriteString(v.w, text) // what reads it may go; the demo goes on
}

func writeJob(b *strings.Builder, j status.Job) {
	r := j.Recent
	fmt.Fprintf(b, "%s/%s  %d turns, %d in flight, errors %s, prompt tokens cached %s\n",
		j.Target, j.Workload, j.Turns, j.TurnsInFlight, r.Errors, r.Cached)
	fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6s\n", "", "TTFT p50", "p95", "p99", "TPOT p50", "p95", "turns")
	for _, k := range []struct {
		name string
		kind status.Kind
	}{{"first turns", r.First}, {"follow-ups", r.Followup}} {
		fmt.Fprintf(b, "  %-14s %10s %10s %10s %10s %10s %6d\n", k.name,
			k.kind.TTFT.P50, k.kind.TTFT.P95, k.kind.TTFT.P99,
			k.kind.TPOT.P50, k.kind.TPOT.P95, k.kind.Turns)
	}
	for _, s := range j.SLOs {
		fmt.Fprintf(b, "  SLO %-13s %s of %d turns good, objective %s: %s\n", s.Name, s.Share, s.Judged, s.Objective, state(s))
	}
	if j.Last != nil && j.Last.Outcome.Failed() {
		fmt.Fprintf(b, "  last turn      %s: %s\n", j.Last.Outcome, j.Last.Err)
	}
	b.WriteString("\n")
}

func state(s status.SLO) string {
	switch {
	case s.Judged == 0:
		return "no turn yet"
	case s.Met():
		return "met"
	}
	return "missed"
}
