package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
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

// memoryShare is the share of the container's memory that Go may take: it does
// not count the binary's own pages and the sockets' buffers.
const memoryShare = 0.9

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
	// GOMEMLIMIT, if it is set, or nothing where no container sets a limit: both
	// are no failure.
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.FromCgroup))
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
	serve, release, err := openWeb(f.web, e.logger)
	if err != nil {
		return err
	}
	defer release()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	server := sidecar.NewServer(s.Handler())
	return s.Run(ctx, server, func() error { return serve(server) })
}

// openWeb checks the web configuration and takes the ports of the usual flags of
// an exporter, so that a mistake or a port in use shows before anything is sent
// to a target. serve serves until the server is closed; release gives the ports
// back, as a server that has served did already.
func openWeb(flags *web.FlagConfig, logger *slog.Logger) (serve func(*http.Server) error, release func(), err error) {
	if err := web.Validate(*flags.WebConfigFile); err != nil {
		return nil, nil, usagef("--web.config.file=%s: %w", *flags.WebConfigFile, err)
	}
	if ofToolkit(flags) {
		return func(s *http.Server) error { return web.ListenAndServe(s, flags, logger) }, func() {}, nil
	}
	var listeners []net.Listener
	release = func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	for _, addr := range *flags.WebListenAddresses {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			release()
			return nil, nil, usagef("--web.listen-address=%s: %w; write for example :9877 or 127.0.0.1:9877", addr, err)
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("serving HTTP: %w; choose another --web.listen-address", err)
		}
		listeners = append(listeners, l)
	}
	return func(s *http.Server) error { return web.ServeMultiple(listeners, s, flags, logger) }, release, nil
}

// ofToolkit says whether the sockets come from where only the toolkit gets
// them: from systemd or from a hypervisor.
func ofToolkit(flags *web.FlagConfig) bool {
	return flags.WebSystemdSocket != nil && *flags.WebSystemdSocket ||
		slices.ContainsFunc(*flags.WebListenAddresses, func(addr string) bool { return strings.HasPrefix(addr, "vsock://") })
}
