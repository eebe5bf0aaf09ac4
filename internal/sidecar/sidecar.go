// Package sidecar is what "synthetic run" is: a configuration becomes jobs, the
// jobs' conversations are held, and what happens in them goes to the metrics,
// the page, the log and the embedded pager.
//
//	config.Config → jobs → load.Scheduler → probe.Event → sink.Fanout → metrics, status, journal
//	                                                       metrics → alerting.Pager
//
// A Sidecar owns every goroutine that it starts; Run ends when they have ended.
package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/version"

	"synthetic/internal/alerting"
	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/metrics"

	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/sidecar/tracing"
)

// Options are what its users choose; the zero value logs and keeps nothing.
type Options struct {
	// Logger defaults to discarding.
	Logger *slog.Logger
	// Events gets a line when a job begins to fail or is well again; nil for
	// none.
	Events *slog.Logger
	// OnAlert is told of each alert that begins or ends; nil logs it.
	OnAlert func(alerting.Transition)
	// ConfigFile is what Load and Reload read. Run looks every AutoReload whether it
	// has changed, and then loads it; 0 looks never.
	ConfigFile string
	AutoReload time.Duration
	// StateFile keeps the baselines across restarts, and beside it the history;
	// "" keeps none.
	StateFile string
	// TurnsFile is the log of turns; "" writes none. It is put aside at TurnsMaxSize
	// bytes, and TurnsKeep older ones are kept.
	TurnsFile    string
	TurnsMaxSize int64
	TurnsKeep    int
	// Lifecycle allows reloading, accepting a level and marking a change over HTTP.
	Lifecycle bool
	// DrainTimeout is how long turns in flight may take to end.
	DrainTimeout time.Duration
	// Replica spreads the schedules of processes that probe the same; "" means
	// the host's name.
	Replica string
	// Shard is this process' share of the targets; the zero value has all.
	Shard config.Shard
	// Dial opens the connections to targets and Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Lag watches how late this process is, while Run runs; nil means never.
	Lag *lag.Monitor
}

// RefusedError is a mistake of the caller: nothing was tried.
type RefusedError struct{ Err error }

func (e RefusedError) Error() string { return e.Err.Error() }
func (e RefusedError) Unwrap() error { return e.Err }

func refused(format string, args ...any) error { return RefusedError{fmt.Errorf(format, args...)} }

// Sidecar holds the parts of a running prober together. Use New, then Load or
// Apply, then Run.
type Sidecar struct {
	options   Options
	logger    *slog.Logger
	registry  *prometheus.Registry // Go and process collectors; the recorder has its own way
	recorder  *metrics.Recorder
	page      *status.Page
	sinks     sink.Fanout
	scheduler *load.Scheduler
	servers   *serverside.Watcher
	canaries  *canaries
	port      port
	// pager is nil unless the first configuration asked for one, alerting what it
	// was made from.
	pager      *alerting.Pager
	alerting   *config.Alerting
	configured bool
	// prometheus has the series of earlier processes; nil unless the first
	// configuration named one.
	prometheus *config.Prometheus
	turns      *store.Log // nil unless one is written
	// spans are exported if the first configuration, tracing, says so.
	spans *tracing.Tracer
	// models follows what targets serve; base is the configuration in force,
	// before their models stand in for them.
	models *discovery.ModelFollower
	// discovery follows where targets are, and leases them.
	discovery *discovery.Follower
	base      *config.Config
	tracing   *config.Tracing
	guards    guards
	// inexact says that a target is reached in a way that has no kernel
	// timestamps.
	inexact atomic.Bool
	// marked says that the process has marked its beginning.
	marked atomic.Bool

	loading   sync.Mutex       // one load at a time
	loaded    string           // version of the configuration file at the last one
	stateLock *atomicfile.Lock // nil without a state file
	saving    sync.Mutex       // of its files
}

// New returns a sidecar without jobs. It reads the state file, if there is one:
// what cannot be used is refused, and left as it is.
func New(o Options) (*Sidecar, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.OnAlert == nil {
		o.OnAlert = logAlert(o.Logger)
	}
	if o.Replica == "" {
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("reading the host's name, which spreads the replicas' schedules: %w", err)
		}
		o.Replica = name
	}
	s := &Sidecar{options: o, logger: o.Logger, registry: prometheus.NewRegistry(), spans: &tracing.Tracer{}, guards: newGuards(), port: newPort()}
	if err := s.openTurns(); err != nil {
		return nil, err
	}
	source := wire.TimestampSource() // asks the kernel, once
	replicas := siblings.New(nil)
	standings := func() []discovery.Standing { return s.discovery.Standings() }
	s.recorder = metrics.NewRecorder(metrics.Options{
		Build: build(),
		Host:  o.Replica,
		TimestampSource: func() string {
			if s.inexact.Load() {
				return "read"
			}
			return source
		},
		Heartbeat: func(job probe.Key) time.Time { return s.scheduler.LastBeat(job) },
		Throttled: s.guards.throttled,
		HistoryRefused: func(job probe.Key, err error) {
			s.logger.Error("The history of a job cannot be used: it begins anew", "target", job.Target, "workload", job.Workload, "err", err)
		},
		Bounds:    s.bounds(),
		Lag:       o.Lag.Lag,
		TurnLog:   s.turnLog(),
		Spans:     s.spanCounts,
		Awaited:   func(target string) bool { return s.models.Awaits(target) || s.discovery.Awaits(target) },
		Models:    func() map[string]discovery.Listing { return s.models.Listings() },
		Discovery: standings,
		Siblings:  replicas.Views,
		Leased:    func() func(string) bool { return s.discovery.Leased() },
	})
	s.canaries = newCanaries(s)
	s.page = status.New(status.Options{Alerts: s.alerts, Discovery: standings, Siblings: replicas.Views, Signals: s.signals, Excess: s.recorder.Excess, Canary: s.canaries.reading, Lag: o.Lag.Lag})
	s.sinks = sink.Fanout{s.recorder, replicas, s.page, newJournal(cmp.Or(o.Events, slog.New(slog.DiscardHandler))), s.spans}
	if s.turns != nil {
		s.sinks = append(s.sinks, s.turns)
	}
	s.scheduler = load.New(load.Options{
		Sink: s.sinks, Logger: o.Logger, Replica: o.Replica, DrainTimeout: o.DrainTimeout,
		NewProber: func(j probe.Job) (load.Prober, error) {
			with := s.guards.share(j.Key())
			return probe.New(probe.Options{
				Target: j.Target, Workload: j.Workload, User: j.User, Dial: o.Dial,
				Connections: s.guards.connections, Pacer: &with.pacer, Peaks: s.guards.peaks, Learned: &with.learned, Lag: o.Lag,
				Traced: s.spans.Traced,
			})
		},
		Memory:    s.guards.memory,
		Sign:      s.recorder.Sign,
		OnRemoved: s.removed,
	})
	s.models = discovery.NewModelFollower(discovery.ModelOptions{
		Logger: o.Logger, Changed: func() { _ = s.targetsChanged() },
		List: func(ctx context.Context, t target.Target) ([]string, error) {
			return probe.ListModels(ctx, probe.Options{Target: t, Dial: o.Dial, Connections: s.guards.connections})
		},
	})
	s.discovery = discovery.New(discovery.Options{Logger: o.Logger, Changed: s.targetsChanged})
	s.servers = serverside.NewWatcher(serverside.WatcherOptions{Dial: o.Dial, Logger: o.Logger, Report: s.recorder.ServerRead})
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := s.restore(); err != nil {
		s.stateLock.Release()
		s.turns.Close()
		return nil, err
	}
	return s, nil
}

func build() metrics.Build {
	return metrics.Build{
		Version: version.Version, Revision: version.GetRevision(), Branch: version.Branch,
		GoVersion: version.GoVersion, GOOS: version.GoOS, GOARCH: version.GoArch, Tags: version.GetTags(),
	}
}

// Apply hands a new configuration down. On an error nothing has changed.
func (s *Sidecar) Apply(cfg *config.Config) error {
	err := s.apply(cfg)
	s.recorder.SetReload(err == nil, time.Now())
	if err == nil {
		s.page.Mark(s.applied())
	}
	return err
}

// applied is the mark of a configuration that was taken over.
func (s *Sidecar) applied() status.Mark {
	if s.marked.Swap(true) {
		return status.Mark{Kind: status.MarkReload, Text: "another configuration"}
	}
	return status.Mark{Kind: status.MarkStart, Text: "synthetic " + version.Version}
}

func (s *Sidecar) apply(base *config.Config) error {
	cfg := base.Expand(s.models.Listed(), s.discovery.Found(base.Discovery)).Of(s.options.Shard)
	// The pager's rules are of what may be found, by any shard: they stand before anything
	// is, and stay as it comes and goes.
	commitPager, err := s.preparePager(base.ForRules())
	if err != nil {
		return err
	}
	commitTracing, err := s.prepareTracing(cfg)
	if err != nil {
		return err
	}
	commitServers, err := s.servers.Prepare(cfg.ServerMetrics)
	if err != nil {
		return err
	}
	inexact := slices.ContainsFunc(cfg.Targets, func(t target.Target) bool { return !wire.Exact(t.HTTP) })
	jobs := make([]probe.Job, len(cfg.Jobs))
	for i, j := range cfg.Jobs {
		jobs[i] = j.Job
	}
	// Before the first job starts, and undone with the process alone.
	if err := commitTracing(); err != nil {
		return err
	}
	err = s.scheduler.Apply(jobs, func() {
		s.inexact.Store(inexact)
		s.recorder.SetMode(metrics.Mode(cfg.Metrics))
		for _, j := range cfg.Jobs {
			s.sinks.Add(j)
		}
	})
	if err != nil {
		return err
	}
	commitServers()
	s.canaries.apply(cfg)
	s.base = base
	s.models.Follow(base.Of(s.options.Shard).Models)
	s.discovery.Follow(base.Discovery)
	s.saveTargets()
	if !s.configured {
		s.prometheus = cfg.Prometheus
	}
	s.configured = true
	return commitPager()
}

// targetsChanged puts what was listed and discovered in place of what stands for it.
func (s *Sidecar) targetsChanged() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	err := s.apply(s.base)
	if err != nil {
		s.logger.Error("A change of models or targets was not taken over", "err", err)
	}
	return err
}

// removed forgets a job that is over.
func (s *Sidecar) removed(job probe.Key) {
	s.sinks.Remove(job)
	s.guards.forget(job)
}

// Restore takes over what an earlier process knew of the jobs to come: their present,
// and their past as regression.Job.History gives it.
func (s *Sidecar) Restore(present baseline.File, past map[probe.Key][]byte) {
	s.recorder.RestoreBaselines(present)
	s.recorder.RestoreHistories(past)
}

// Baselines returns what a later process has to know.
func (s *Sidecar) Baselines() baseline.File { return s.recorder.Baselines() }

// signals says how the signals of a job compare with the usual.
func (s *Sidecar) signals(job probe.Key) ([2][2]baseline.View, bool) {
	views, ok := s.recorder.Views(job)
	return views, ok
}

// Gatherer has the series of /metrics but for those of the process.
func (s *Sidecar) Gatherer() prometheus.Gatherer { return s.recorder }

// Status returns what the status page shows.
func (s *Sidecar) Status() status.Snapshot { return s.page.Snapshot() }
