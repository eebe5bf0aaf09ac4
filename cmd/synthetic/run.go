package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/lag"
	"synthetic/internal/sidecar"
)

// memoryShare is the share of the container's memory limit that Go may use. Go does not
// count the pages of the binary and the buffers of sockets.
const memoryShare = 0.9

// gcPercent is Go's GOGC, if the user has not set it. With 1,000 targets much is alive and little is allocated, so a low
// percentage saves memory and costs little CPU time.
const gcPercent = 50

// routePrefix matches the values of --web.route-prefix. A path without dots alone between slashes is what clients send.
var routePrefix = regexp.MustCompile(`^(/[-_~A-Za-z0-9][-._~A-Za-z0-9]*)*$`)

type runFlags struct {
	configFile string
	autoReload time.Duration
	lifecycle  bool
	prefix     string
	shard      string
	shutdown   time.Duration
	stateFile  string
	turnsFile  string
	web        *web.FlagConfig
}

func addRun(app *kingpin.Application) command {
	f := &runFlags{}
	c := app.Command("run", `Probe the configured targets until SIGTERM, and export the results (the sidecar).

/metrics is for Prometheus, / is the status page, and /-/healthy and /-/ready are
for Kubernetes. SIGHUP reloads the configuration; a file with mistakes changes
nothing. Example:
  synthetic run --config.file=synthetic.yml --state.file=/var/lib/synthetic/state

By default it listens on all addresses without a password. Anyone who reaches the
port can read names of targets and models, error texts and trace IDs, but no key.
To prevent this, set a password or a certificate with --web.config.file, or listen
on this machine only with --web.listen-address=127.0.0.1:9877. See SECURITY.md.`)
	c.Flag("config.file", "The configuration file (see docs/reference/configuration.md).").Default("synthetic.yml").StringVar(&f.configFile)
	c.Flag("shard", "Probe only this part of the targets: 0/3 is the first of three processes that share one configuration. In a StatefulSet write $(POD_NAME)/3. Targets of one service stay in one process.").PlaceHolder("INDEX/COUNT").StringVar(&f.shard)
	c.Flag("config.auto-reload-interval", "How often to check whether the configuration file has changed, and reload it; 0 means never. Changes of files that it names are noticed only if their directory is replaced as a whole, as Kubernetes does for mounted ConfigMaps and Secrets.").Default("0s").DurationVar(&f.autoReload)
	c.Flag("web.enable-lifecycle", "Allow POST /-/reload (reload the configuration) and POST /-/accept (see synthetic accept).").BoolVar(&f.lifecycle)
	c.Flag("web.route-prefix", "Serve all pages below this path, such as /probes/llm.").PlaceHolder("PATH").StringVar(&f.prefix)
	c.Flag("shutdown.timeout", "How long to wait after SIGTERM for requests in flight.").Default("25s").DurationVar(&f.shutdown)
	c.Flag("state.file", "File that keeps the usual latencies (baselines) that were learned, across restarts. Their history is beside it, in the file with .history appended. Its directory must exist and be writable. Without the flag, a restarted process learns them again: sudden rises page after three hours, slow rises after a week.").StringVar(&f.stateFile)
	c.Flag("turns.file", "Write a log of all finished turns: start, outcome, times and tokens, but no texts and no keys (see docs/reference/turn-log.md). Its directory must exist and be writable. At 100 MB the log is packed and a new one begins; the last 20 packed logs are kept.").PlaceHolder("PATH").StringVar(&f.turnsFile)
	f.web = addWebFlags(c, ":9877", "Address of the port. Repeatable.")
	c.Flag("web.config.file", "File with TLS settings and passwords of the port: see https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md").PlaceHolder("FILE").StringVar(f.web.WebConfigFile)
	return command{c, f.run}
}

func (f *runFlags) run(ctx context.Context, e env) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // first: it would end the process while files are read
	defer signal.Stop(hangups)
	if f.autoReload != 0 && f.autoReload < time.Second {
		return usagef("--config.auto-reload-interval=%v: give at least 1s, or 0 for never", f.autoReload)
	}
	if f.shutdown < 0 {
		return usagef("--shutdown.timeout=%v: write 0s or more", f.shutdown)
	}
	prefix := strings.TrimRight(f.prefix, "/")
	if !routePrefix.MatchString(prefix) {
		return usagef("--web.route-prefix=%s: write a path of letters, digits, dots and dashes, such as /probes/llm", f.prefix)
	}
	var shard fleet.Shard
	if f.shard != "" {
		var err error
		if shard, err = fleet.ParseShard(f.shard); err != nil {
			return usagef("--shard: %v", err)
		}
	}
	if _, err := os.Stat(f.configFile); errors.Is(err, fs.ErrNotExist) {
		return usagef("--config.file=%s: there is no such file; write one with: synthetic init --base-url=URL --output.file=%[1]s", f.configFile)
	}
	// An error only means that there is no limit to apply: GOMEMLIMIT is already set, or
	// the container has no limit.
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.FromCgroup))
	monitor := lag.New()
	s, err := sidecar.New(sidecar.Options{
		Logger: e.logger, Events: e.logger, DrainTimeout: f.shutdown,
		ConfigFile: f.configFile, Shard: shard, AutoReload: f.autoReload, Hangups: hangups, StateFile: f.stateFile,
		Web: sidecar.Web{ConfigFile: *f.web.WebConfigFile, RoutePrefix: prefix, Lifecycle: f.lifecycle}, Lag: monitor,
		TurnsFile: f.turnsFile,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Load(); err != nil {
		return err
	}
	ports, err := openPorts(f.web, e.logger)
	if err != nil {
		return err
	}
	defer ports.close()
	f.logAddresses(e.logger, ports)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var fit sync.WaitGroup
	defer fit.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fit.Go(func() { fitProcessors(ctx, monitor.Lag) })
	server := s.Server()
	return s.Run(ctx, server, func() error { return ports.serve(server) })
}

// logAddresses logs the addresses and who can read from them.
func (f *runFlags) logAddresses(logger *slog.Logger, p *ports) {
	attributes := []any{"addresses", p.addresses(), "reload_over_http", f.lifecycle}
	if *f.web.WebConfigFile != "" {
		logger.Info("Serving with the web configuration", append(attributes, "web_config", *f.web.WebConfigFile)...)
		return
	}
	if p.onlyLoopback() {
		logger.Info("Serving this machine only", attributes...)
		return
	}
	logger.Info("Anyone who reaches these addresses can read names of targets and models, error texts and trace IDs; --web.config.file sets a password or a certificate, --web.listen-address=127.0.0.1:9877 serves this machine only", attributes...)
}
