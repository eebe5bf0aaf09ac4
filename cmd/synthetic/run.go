package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	oklog "github.com/oklog/run"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"
)

// defaultListen is where the sidecar serves.
const defaultListen = ":9877"

// gcPercent trades CPU that a sidecar has plenty of for memory that it should
// not take from the pod: its heap is a few megabytes.
const gcPercent = 40

// startUp is after how long the sidecar has done what it does only once, and
// settled after how long its first conversations have.
const startUp, settled = 5 * time.Second, 30 * time.Second

// runFlags are the flags of "synthetic run".
type runFlags struct {
	configFile string
	lifecycle  bool
	shutdown   time.Duration
	stateFile  string
	web        *web.FlagConfig
}

func addRun(app *kingpin.Application) command {
	f := &runFlags{}
	c := app.Command("run", `Probe the configured targets until SIGTERM, and serve what was seen.

SIGHUP reloads the configuration file; a file with mistakes changes nothing.
/metrics is for Prometheus, / for people, /-/healthy and /-/ready for Kubernetes.`)
	c.Flag("config.file", "The configuration file (see docs/reference/configuration.md).").Default("synthetic.yml").StringVar(&f.configFile)
	c.Flag("web.enable-lifecycle", "Allow reloading with POST /-/reload.").BoolVar(&f.lifecycle)
	c.Flag("shutdown.timeout", "How long turns in flight may take to end after SIGTERM.").Default("25s").DurationVar(&f.shutdown)
	c.Flag("state.file", "Keep the baselines of the regression alerts there across restarts; its directory must exist and be writable. Without it a restart learns them anew, which takes a day.").StringVar(&f.stateFile)
	f.web = webflag.AddFlags(c, defaultListen)
	return command{c, f.run}
}

func (f *runFlags) run(ctx context.Context, e env) error {
	if f.shutdown < 0 {
		return usagef("--shutdown.timeout=%v: it cannot be negative", f.shutdown)
	}
	s, err := newSidecar(sidecarOptions{logger: e.logger, events: e.logger, drainTimeout: f.shutdown})
	if err != nil {
		return err
	}
	defer s.closePager()
	if err := restoreBaselines(f.stateFile, s.recorder); err != nil {
		return err
	}
	r := &reloader{path: f.configFile, logger: e.logger, apply: s.apply, done: s.recorder.SetReload}
	if err := r.load(); err != nil {
		return err
	}
	// Only now: before, the recorder knows no job, and would save that.
	defer keepBaselines(f.stateFile, s.recorder, e.logger)()
	var reload func() error
	if f.lifecycle {
		reload = r.load
	}
	w, err := openWeb(f.web, e.logger)
	if err != nil {
		return err
	}
	defer w.close()
	server := newServer(s.handlers(reload))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	for _, after := range []time.Duration{startUp, settled} {
		defer time.AfterFunc(after, trimResident).Stop()
	}
	return serve(ctx, e.logger, s, r, server, func() error { return w.serve(server) })
}

// newServer returns a server with the timeouts that keep idle peers cheap.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
}

// serve runs the parts of a sidecar until ctx is done or one of them fails.
// The server goes last, so that the final counts can still be scraped while
// the turns in flight drain.
func serve(ctx context.Context, logger *slog.Logger, s *sidecar, r *reloader, server *http.Server, listen func() error) error {
	var g oklog.Group
	drained := make(chan struct{})
	{
		ctx, cancel := context.WithCancel(ctx)
		g.Add(func() error {
			<-ctx.Done()
			logger.Info("Stopping: turns in flight may end, new ones do not start; a second signal ends at once")
			return nil
		}, func(error) { cancel() })
	}
	{
		ctx, cancel := context.WithCancel(context.Background())
		g.Add(func() error {
			defer close(drained)
			return s.scheduler.Run(ctx)
		}, func(error) { cancel() })
	}
	s.addPager(&g, drained)
	s.addServers(&g)
	if r != nil {
		ctx, cancel := context.WithCancel(context.Background())
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		g.Add(func() error {
			defer signal.Stop(hangups)
			return r.follow(ctx, hangups)
		}, func(error) { cancel() })
	}
	g.Add(func() error {
		if err := listen(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving /metrics: %w", err)
		}
		return nil
	}, func(error) {
		<-drained
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // what is still open after that ends with the process
	})
	return g.Run()
}
