package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/alerting"
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
	listen string
}

func addDemo(app *kingpin.Application) command {
	f := &demoFlags{}
	c := app.Command("demo", `Show what synthetic does with a simulated deployment, without a network.

It starts a simulated deployment and probes it as "synthetic run" does, prints
the addresses of its web pages, and runs until Ctrl-C. After a minute one of the
three workers of the deployment hangs and is lost; after six minutes the
deployment reads prompts more slowly. Both raise alerts.`)
	c.Flag("web.listen-address", "Address of the status page and of /metrics. Default: "+demoListen+", or a free port if it is in use.").StringVar(&f.listen)
	return command{c, f.run}
}

func (f *demoFlags) run(ctx context.Context, e env) error {
	web, err := f.webListener()
	if err != nil {
		return err
	}
	defer web.Close()
	began := time.Now()
	addr, stop, err := demo.Start(demo.Deployment(1))
	if err != nil {
		return err
	}
	defer stop()
	cfg, err := config.Parse("demo.yml", demo.Config(addr), ".")
	if err != nil {
		return err
	}
	known, err := demo.LoadBaseline()
	if err != nil {
		return err
	}
	out := &demoOutput{w: e.stdout, firing: map[string]int{}}
	s, err := sidecar.New(sidecar.Options{ // no DrainTimeout: Ctrl-C ends turns at once
		Logger: sidecar.Quiet(e.logger), Lag: lag.New(), OnAlert: out.alert,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	s.Restore(known.HistoryUntil(began))
	if err := s.Apply(cfg); err != nil {
		return err
	}
	f.welcome(e, web.Addr(), addr)
	outputCtx, stopOutput := context.WithCancel(ctx)
	var outputs sync.WaitGroup
	outputs.Go(func() { demo.Announce(outputCtx, began, out.say) })
	server := s.Server()
	err = s.Run(ctx, server, func() error { return server.Serve(web) })
	stopOutput()
	outputs.Wait()
	if err == nil {
		f.summarize(e, s.Status())
	}
	return err
}

// demoOutput prints events and alerts.
type demoOutput struct {
	mu     sync.Mutex
	w      io.Writer
	firing map[string]int // by name of the alert
}

// say prints a line.
func (o *demoOutput) say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.w, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
}

// alert prints the first of several alerts with the same name, and the end of the last.
func (o *demoOutput) alert(t alerting.Transition) {
	name := t.Labels["alertname"]
	o.mu.Lock()
	change := -1
	if t.Firing {
		change = 1
	}
	o.firing[name] = max(o.firing[name]+change, 0)
	n := o.firing[name]
	o.mu.Unlock()
	switch {
	case t.Firing && n == 1:
		o.say(fmt.Sprintf("FIRING %s %s – %s", strings.ToUpper(t.Labels["severity"]), name, t.Annotations["summary"]))
	case !t.Firing && n == 0:
		o.say("RESOLVED " + name)
	}
}

// summarize prints the result of the demo and what to try next.
func (f *demoFlags) summarize(e env, s status.Snapshot) {
	fmt.Fprintf(e.stdout, "\nThe demo ran for %s.\n\n", slo.FormatDuration(s.At.Sub(s.Started).Round(time.Second)))
	for _, j := range s.Jobs {
		fmt.Fprintf(e.stdout, "%s/%s  %s, %d failed\n", j.Target, j.Workload, count(j.Turns-j.Canceled, "turn"), j.Failed)
	}
	const url = "http://127.0.0.1:8000/v1"
	fmt.Fprintf(e.stdout, "\nTry next\n  your own deployment        %s\n  a configuration for it     %s\n",
		commandLine("probe", "--base-url", url), commandLine("init", "--base-url", url))
}

// webListener listens on --web.listen-address. Without the flag it falls back to a free port.
func (f *demoFlags) webListener() (net.Listener, error) {
	l, err := listen("web.listen-address", cmp.Or(f.listen, demoListen))
	if f.listen == "" && errors.Is(err, syscall.EADDRINUSE) {
		return listen("web.listen-address", "127.0.0.1:0")
	}
	return l, err
}

func (f *demoFlags) welcome(e env, web net.Addr, addr string) {
	fmt.Fprintf(e.stdout, `A simulated deployment serves http://%[3]s/v1,
and the sidecar probes it. %[4]s

  status page   http://%[1]s/
  metrics       http://%[1]s/metrics
  by hand       %[2]s

The demo starts with a learned baseline. With a new sidecar, sudden rises page
after three hours, slow rises after a week.
Ctrl-C ends the demo. It has five events:

`, web, commandLine("probe", "--base-url", "http://"+addr+"/v1"), addr, demo.About)
	for _, step := range demo.Steps() {
		fmt.Fprintf(e.stdout, "  after %-8s %s\n", slo.FormatDuration(step.At), step.Text)
	}
	fmt.Fprintln(e.stdout)
}
