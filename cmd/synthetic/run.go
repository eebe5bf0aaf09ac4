package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"synthetic/internal/sidecar"
)

// defaultListen is where the sidecar serves.
const defaultListen = ":9877"

// gcPercent trades CPU that a sidecar has plenty of for memory that it should
// not take from the pod: its heap is a few megabytes.
const gcPercent = 40

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
	s, err := sidecar.New(sidecar.Options{
		Logger: e.logger, Events: e.logger, DrainTimeout: f.shutdown,
		ConfigFile: f.configFile, StateFile: f.stateFile, Lifecycle: f.lifecycle,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Load(); err != nil {
		return err
	}
	w, err := openWeb(f.web, e.logger)
	if err != nil {
		return err
	}
	defer w.close()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	server := sidecar.NewServer(s.Handler())
	return s.Run(ctx, server, func() error { return w.serve(server) })
}
