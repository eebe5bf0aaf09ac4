// Package sidecar implements "synthetic run". It turns a configuration into jobs, runs their
// conversations, and passes each event to the baselines, the metrics, the status page, the
// logs and the embedded pager.
//
//	config.Config → jobs → load.Scheduler → probe.Event → fleet.Fanout → baselines, metrics, status, journal
//	                                                       metrics → alerting.Pager
//
// A Sidecar owns every goroutine that it starts. Run returns after all of them have ended.
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
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/lag"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/sidecar/tracing"
	"synthetic/internal/sidecar/watch"
)

// Options configure a Sidecar. The zero value logs nothing and keeps no files.
type Options struct {
	// Logger defaults to discarding.
	Logger *slog.Logger
	// Events logs a line when a job begins to fail and when it recovers; nil logs none.
	Events *slog.Logger
	// OnAlert is called when an alert begins to fire or ends; nil logs it.
	OnAlert func(alerting.Transition)
	// ConfigFile is the file that Load reads. Run checks it for changes every AutoReload
	// and loads it again; 0 never checks.
	ConfigFile string
	AutoReload time.Duration
	// Hangups receives a signal for each reload that a user asks for; nil receives none.
	Hangups <-chan os.Signal
	// StateFile keeps baselines across restarts; the histories are kept in a file beside
	// it. "" keeps neither.
	StateFile string
	// TurnsFile is the turn log; "" writes none.
	TurnsFile string
	Web       Web
	// DrainTimeout bounds the wait for turns in flight at the end.
	DrainTimeout time.Duration
	// Replica spreads the schedules of processes that probe the same targets; "" means the
	// host name.
	Replica string
	// Shard is the share of the targets that this process probes; the zero value means all.
	Shard fleet.Shard
	// Dial opens the connections to targets and Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Lag measures how late this process runs, while Run runs; nil measures nothing.
	Lag Lateness
}

// Web configures the HTTP port.
type Web struct {
	// ConfigFile is the file of passwords and certificates that the server enforces; "" for none.
	ConfigFile string
	// RoutePrefix is the path before those of Routes; "" for none.
	RoutePrefix string
	// Lifecycle allows reloads, and accepted levels over HTTP.
	Lifecycle bool
}

// Lateness is a lag.Monitor.
type Lateness interface {
	probe.Lateness
	// Lag returns the lateness of the last minute.
	Lag() time.Duration
	Run(ctx context.Context) error
}

// RefusedError reports a mistake in the caller's options or configuration.
type RefusedError struct{ Err error }

func (e RefusedError) Error() string { return e.Err.Error() }
func (e RefusedError) Unwrap() error { return e.Err }

func refused(format string, args ...any) error { return RefusedError{fmt.Errorf(format, args...)} }

// Sidecar holds the parts of a running prober. Use New, then Load or Apply, then Run.
type Sidecar struct {
	options   Options
	registry  *prometheus.Registry // Go and process metrics; /metrics adds the recorder's
	scheduler *load.Scheduler
	servers   *serverside.Watcher
	discovery *discovery.Follower
	pager     *paging
	resources *targetResources
	state     *state

	// The parts that follow the jobs.
	baselines *watch.Tracker
	recorder  *metrics.Recorder
	page      *status.Page
	turns     *store.Log // nil without a turn log
	spans     *tracing.Tracer
	trial     *trial
	sinks     fleet.Fanout

	loading     sync.Mutex // held during a load
	fileVersion string     // of the configuration file at the last load
	// written is the fleet in force, without the targets that were found; nil before the first configuration.
	written *fleet.Fleet
	tracing *config.Tracing // of the first configuration; a reload cannot change it
}

// New returns a sidecar without jobs. It reads the state file, if there is one. If the file
// cannot be used, New returns an error and leaves the file unchanged.
func New(o Options) (*Sidecar, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	s := &Sidecar{options: o, registry: prometheus.NewRegistry(), resources: newResources()}
	s.spans = &tracing.Tracer{}
	if o.TurnsFile != "" {
		var err error
		if s.turns, err = store.Open(store.Options{Path: o.TurnsFile, MaxSize: 100 << 20, Keep: 20, Logger: o.Logger}); err != nil {
			return nil, refused("--turns.file: %w", err)
		}
	}
	// Each part is created after the parts that it uses.
	s.baselines = watch.NewTracker(watch.TrackerOptions{
		Awaited: func(target string) bool { return s.discovery.Awaits(target) },
		HistoryRefused: func(job probe.Key, err error) {
			o.Logger.Error("Discarding the stored history of a job: its baseline is learned again", "target", job.Target, "workload", job.Workload, "err", err)
		},
	})
	s.trial = &trial{leased: func() func(string) bool { return s.discovery.Leased() }, saved: s.baselines.Saved, targets: map[string]*candidate{}}
	s.discovery = discovery.New(o.Logger, s.trial.onlyFailed)
	s.state = &state{
		file: o.StateFile, logger: o.Logger, baselines: s.baselines, discovery: s.discovery,
		targetsUnsaved: make(chan struct{}, 1), saves: make(chan chan error, 1),
	}
	s.scheduler = load.New(load.Options{
		Sink: &s.sinks, Logger: o.Logger, Replica: o.Replica, DrainTimeout: o.DrainTimeout,
		NewProber: s.newProber, Memory: s.resources.memory, Sign: s.baselines.Sign,
		OnRemoved: func(job probe.Key) {
			s.sinks.Remove(job)
			s.resources.forget(job)
		},
	})
	s.recorder = s.newRecorder()
	s.pager = &paging{registry: s.registry, options: alerting.Options{
		Gatherer: s.recorder, OnChange: s.alertChanged, Dial: o.Dial, Logger: o.Logger, EngineLogger: Quiet(o.Logger),
	}}
	s.servers = serverside.NewWatcher(serverside.WatcherOptions{Dial: o.Dial, Logger: o.Logger, Report: func(target string, r serverside.Reading) {
		s.recorder.ServerRead(target, r)
		s.page.ServerRead(target, r)
	}})
	s.page = status.New(status.Options{
		Alerts: s.pager.alerts, Discovery: s.discovery.Standings, Baseline: s.baselines.Read, Lag: o.Lag.Lag,
	})
	// The recorder and the page read the baselines, so the baselines observe an event first.
	s.trial.judges = fleet.Fanout{s.baselines, s.recorder}
	s.sinks = fleet.Fanout{s.trial, s.page, newJournal(o.Events, s.page.CanPage), s.spans}
	if s.turns != nil {
		s.sinks = append(s.sinks, s.turns)
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := s.state.restore(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (o *Options) setDefaults() error {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Events = cmp.Or(o.Events, slog.New(slog.DiscardHandler))
	if o.OnAlert == nil {
		o.OnAlert = logAlert(o.Logger)
	}
	if o.Lag == nil {
		o.Lag = (*lag.Monitor)(nil)
	}
	if o.Replica != "" {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("reading the host name, which spreads the schedules of replicas: %w", err)
	}
	o.Replica = name
	return nil
}

// Apply puts a new configuration into force. If any part of it is invalid, Apply returns an
// error and changes nothing.
func (s *Sidecar) Apply(cfg *config.Config) error {
	err := s.apply(&cfg.Fleet, func(c *change) error {
		// The rules cover all targets that any shard may discover, so they do not change when
		// targets come and go.
		if err := s.pager.prepare(c, cfg, s.written == nil); err != nil {
			return err
		}
		return s.prepareTracing(c, cfg.Tracing)
	})
	s.recorder.SetReload(err == nil, time.Now())
	return err
}

// apply checks every part of a fleet before it changes any. prepare checks what else changes.
func (s *Sidecar) apply(written *fleet.Fleet, prepare func(*change) error) error {
	now := written.WithDiscovered(s.discovery.Found(written.Groups)).ForShard(s.options.Shard)
	if len(now.Jobs) > fleet.MaxJobs {
		s.resources.jobs.Store(int64(len(now.Jobs)))
		return refused("with the discovered targets and models there are %d pairs of a workload and a target, more than %d: run several processes, each with a shard of the targets (docs/how-to/run-shards.md)", len(now.Jobs), fleet.MaxJobs)
	}
	jobs := make([]probe.Job, len(now.Jobs))
	for i, j := range now.Jobs {
		jobs[i] = j.Job
	}
	c := &change{}
	err := prepare(c)
	if err == nil {
		var servers func()
		servers, err = s.servers.Prepare(now.ServerMetrics)
		c.commits = append(c.commits, servers)
	}
	if err == nil {
		err = s.scheduler.Apply(jobs, func() { s.announce(now) })
	}
	if err != nil {
		callAll(c.rollbacks)
		return err
	}
	callAll(c.commits)
	s.written = written
	s.resources.jobs.Store(int64(len(now.Jobs)))
	s.discovery.Follow(written.Groups)
	s.state.targetsChanged()
	return nil
}

// change is a checked change of the parts that may refuse a configuration. It ends with the commits,
// which cannot fail, or with the rollbacks.
type change struct{ commits, rollbacks []func() }

func callAll(all []func()) {
	for _, call := range all {
		call()
	}
}

// announce tells the sinks about the jobs before any of them starts.
func (s *Sidecar) announce(f fleet.Fleet) {
	s.resources.untimed.Store(slices.ContainsFunc(f.Targets, func(t target.Target) bool { return !wire.Exact(t.HTTP) }))
	for _, j := range f.Jobs {
		s.sinks.Add(j)
	}
}

// targetsChanged applies the configuration again, with the targets and models found by now.
func (s *Sidecar) targetsChanged() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	err := s.apply(s.written, func(*change) error { return nil })
	if err != nil {
		s.options.Logger.Error("Rejected a change of models or targets", "err", err)
	}
	return err
}

// Restore takes over the states and histories of jobs that an earlier process saved.
func (s *Sidecar) Restore(states watch.File, histories map[probe.Key][]byte) {
	s.baselines.Restore(states, histories)
}

// Baselines returns the states of all jobs, for the state file.
func (s *Sidecar) Baselines() watch.File { return s.baselines.States() }

// Gatherer returns every series of the sidecar except Go and process metrics.
func (s *Sidecar) Gatherer() prometheus.Gatherer { return s.recorder }

// Status returns what the status page shows.
func (s *Sidecar) Status() status.Snapshot { return s.page.Snapshot() }
