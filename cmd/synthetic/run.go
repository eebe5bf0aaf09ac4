package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kingpin/v2"
	"github.com/alecthomas/units"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"synthetic/internal/config"
	"synthetic/internal/probe/lag"
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
	autoReload time.Duration
	lifecycle  bool
	shard      string
	shutdown   time.Duration
	stateFile  string
	turnsFile  string
	turnsSize  *units.Base2Bytes
	turnsKeep  int
	web        *web.FlagConfig
}

func addRun(app *kingpin.Application) command {
	f := &runFlags{}
	c := app.Command("run", `Probe the configured targets until SIGTERM, and serve what was seen.

SIGHUP reloads the configuration file, and so does a change of it with
--config.auto-reload-interval; a file with mistakes changes nothing.
/metrics is for Prometheus, / for people, /-/healthy and /-/ready for Kubernetes.
Unless told otherwise it listens on all addresses, without a password: whoever
reaches the port can read names of targets and models, error texts and trace
IDs, and no key. --web.config.file asks for a password or a certificate;
--web.listen-address=127.0.0.1:9877 is for this machine alone. See SECURITY.md.`)
	c.Flag("config.file", "The configuration file (see docs/reference/configuration.md).").Default("synthetic.yml").StringVar(&f.configFile)
	c.Flag("shard", "Probe this share of the targets, INDEX/COUNT: 0/3 is the first of three processes with one configuration. For the index the name of a StatefulSet's pod will do: $(POD_NAME)/3. Siblings, targets of one service, stay together.").PlaceHolder("INDEX/COUNT").StringVar(&f.shard)
	c.Flag("config.auto-reload-interval", "Look so often whether the configuration file has changed, and reload it; 0 looks never. Files that it names count only where a directory is replaced as a whole, as Kubernetes does.").Default("0s").DurationVar(&f.autoReload)
	c.Flag("web.enable-lifecycle", "Allow reloading with POST /-/reload, accepting a level as the usual one with POST /-/accept, and marking a change with POST /-/mark.").BoolVar(&f.lifecycle)
	c.Flag("shutdown.timeout", "How long turns in flight may take to end after SIGTERM.").Default("25s").DurationVar(&f.shutdown)
	c.Flag("state.file", "Keep the baselines of the regression alerts there across restarts, and their history in the file of that name and .history; its directory must exist and be writable. Without it a restart reads them back from state.prometheus of the configuration or, without that, learns them anew, which takes a day.").StringVar(&f.stateFile)
	c.Flag("turns.file", "Write a log of every finished turn there, for backtest --turns: when, how it ended, times and tokens, no texts and no keys; see docs/reference/turn-log.md. Its directory must exist and be writable.").PlaceHolder("PATH").StringVar(&f.turnsFile)
	f.turnsSize = c.Flag("turns.max-size", "How large that log may become before it is put aside and packed; a million turns are 300 MB, packed 30 MB.").Default("100MB").Bytes()
	c.Flag("turns.keep", "How many older logs are kept.").Default("20").IntVar(&f.turnsKeep)
	f.web = webflag.AddFlags(c, defaultListen)
	return command{c, f.run}
}

func (f *runFlags) run(ctx context.Context, e env) error {
	if f.autoReload != 0 && f.autoReload < time.Second {
		return usagef("--config.auto-reload-interval=%v: it is at least 1s, or 0 for never", f.autoReload)
	}
	if f.shutdown < 0 {
		return usagef("--shutdown.timeout=%v: it cannot be negative", f.shutdown)
	}
	if *f.turnsSize < 1 || f.turnsKeep < 1 {
		return usagef("--turns.max-size=%v and --turns.keep=%d must be positive", *f.turnsSize, f.turnsKeep)
	}
	var shard config.Shard
	if f.shard != "" {
		var err error
		if shard, err = config.ParseShard(f.shard); err != nil {
			return usagef("--shard: %v", err)
		}
	}
	// GOMEMLIMIT, if it is set, or nothing where no container sets a limit: both
	// are no failure.
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.FromCgroup))
	s, err := sidecar.New(sidecar.Options{
		Logger: e.logger, Events: e.logger, DrainTimeout: f.shutdown,
		ConfigFile: f.configFile, Shard: shard, AutoReload: f.autoReload, StateFile: f.stateFile, Lifecycle: f.lifecycle, Lag: lag.New(),
		TurnsFile: f.turnsFile, TurnsMaxSize: int64(*f.turnsSize), TurnsKeep: f.turnsKeep,
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
	ports.bound(s.Bounded)
	f.sayOpen(e.logger, ports)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	server := s.Server()
	return s.Run(ctx, server, func() error { return ports.serve(server) })
}

// sayOpen says who can ask, and what they learn.
func (f *runFlags) sayOpen(logger *slog.Logger, p *ports) {
	about := []any{"addresses", strings.Join(p.addresses(), " "), "reload_over_http", f.lifecycle}
	if *f.web.WebConfigFile != "" {
		logger.Info("Serving as the web configuration says", append(about, "web_config", *f.web.WebConfigFile)...)
		return
	}
	logger.Info("Everybody who reaches these addresses can read what is probed and how it goes: names of targets and models, error texts, trace IDs; --web.config.file asks for a password or a certificate, --web.listen-address=127.0.0.1:9877 is for this machine alone", about...)
}
