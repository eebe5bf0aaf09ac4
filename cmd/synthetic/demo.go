package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/simulate"
)

//go:embed demo.yml
var demoConfig []byte

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
		Default("healthy").EnumVar(&f.scenario, scenarioNames()...)
	return command{c, f.run}
}

func (f *demoFlags) run(ctx context.Context, e env) error {
	web, err := f.webListener()
	if err != nil {
		return err
	}
	defer web.Close()
	show, err := scenarioNamed(f.scenario, f.seed)
	if err != nil {
		return err
	}
	began := time.Now()
	deployments, err := startDeployments(show.targets)
	if err != nil {
		return err
	}
	defer closeAll(deployments)
	s, err := newSidecar(sidecarOptions{logger: quiet(e.logger), drainTimeout: 2 * time.Second})
	if err != nil {
		return err
	}
	defer s.closePager()
	if err := startUsual(s.recorder, show.targets); err != nil {
		return err
	}
	view := newLive(e.stdout, s.page.Snapshot)
	s.onAlert = func(c alerting.Change) { view.say(alertLine(c)) }
	cfg, err := config.Parse("demo.yml", demoConfigFor(show.targets, deployments), ".")
	if err != nil {
		return err
	}
	if err := s.apply(cfg); err != nil {
		return err
	}
	s.recorder.SetReload(true, time.Now())
	f.welcome(e, web.Addr(), deployments)
	fmt.Fprint(e.stdout, show.plan())
	viewCtx, stopView := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		view.follow(viewCtx)
	}()
	told := make(chan struct{})
	go func() {
		defer close(told)
		show.tell(viewCtx, began, view.say)
	}()
	server := newServer(s.handlers(nil))
	err = serve(ctx, quiet(e.logger), s, nil, server, func() error { return server.Serve(web) })
	stopView()
	<-shown
	<-told
	return err
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

func (f *demoFlags) welcome(e env, web net.Addr, deployments []*deployment) {
	for _, d := range deployments {
		fmt.Fprintf(e.stdout, "A simulated deployment serves http://%s/v1, and the sidecar probes it.\n", d.addr)
	}
	fmt.Fprintf(e.stdout, `
  status page   http://%[2]s/
  alerts        http://%[2]s/alerts
  metrics       http://%[2]s/metrics
  by hand       %[3]s probe --base-url http://%[1]s/v1

What is usual was learned beforehand; a prober of your own takes a day for that.
Ctrl-C ends the demo. The first figures come within seconds.

`, deployments[0].addr, web, os.Args[0])
}

// quiet drops what is below a warning: the demo's terminal shows figures.
func quiet(l *slog.Logger) *slog.Logger {
	return slog.New(levelled{l.Handler(), slog.LevelWarn})
}

// levelled is a handler with a higher level.
type levelled struct {
	slog.Handler
	level slog.Level
}

func (h levelled) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

func (h levelled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelled{h.Handler.WithAttrs(attrs), h.level}
}

func (h levelled) WithGroup(name string) slog.Handler {
	return levelled{h.Handler.WithGroup(name), h.level}
}

// deployment is a simulated deployment on a loopback port.
type deployment struct {
	*simulate.Deployment
	addr   string
	server *http.Server
	cancel context.CancelFunc
	served chan struct{}
}

func startDeployment(o simulate.Options) (*deployment, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the simulated deployment: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &deployment{Deployment: simulate.New(o), addr: l.Addr().String(), cancel: cancel, served: make(chan struct{})}
	d.server = newServer(d.Deployment)
	d.server.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() {
		defer close(d.served)
		_ = d.server.Serve(l) // ends by close, with http.ErrServerClosed
	}()
	return d, nil
}

// close ends the server and waits for it; requests that hang end, too.
func (d *deployment) close() {
	d.cancel()
	_ = d.server.Close()
	<-d.served
}
