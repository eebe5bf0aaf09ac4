// Package sidecar implements "synthetic run". It turns a configuration into jobs, runs their
// conversations, and passes each event to the baselines, the metrics, the status page, the
// logs and the embedded pager.
//
//	config.Config → jobs → load.Scheduler → probe.Event → sink.Fanout → baselines, metrics, status, journal
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
	// StateFile keeps baselines across restarts; the histories are kept in a file beside
	// it. "" keeps neither.
	StateFile string
	// TurnsFile is the turn log; "" writes none. It is rotated at TurnsMaxSize bytes, and
	// TurnsKeep older files are kept.
	TurnsFile    string
	TurnsMaxSize int64
	TurnsKeep    int
	// Lifecycle allows reloads, accepted levels and marks over HTTP.
	Lifecycle bool
	// DrainTimeout bounds the wait for turns in flight at the end.
	DrainTimeout time.Duration
	// Replica spreads the schedules of processes that probe the same targets; "" means the
	// host name.
	Replica string
	// Shard is the share of the targets that this process probes; the zero value means all.
	Shard config.Shard
	// Dial opens the connections to targets and Alertmanagers; nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Lag measures how late this process runs, while Run runs; nil measures nothing.
	Lag *lag.Monitor
}

// RefusedError reports a mistake in the caller's options or configuration.
type RefusedError struct{ Err error }

func (e RefusedError) Error() string { return e.Err.Error() }
func (e RefusedError) Unwrap() error { return e.Err }

func refused(format string, args ...any) error { return RefusedError{fmt.Errorf(format, args...)} }

// Sidecar holds the parts of a running prober. Use New, then Load or Apply, then Run.
type Sidecar struct {
	options  Options
	logger   *slog.Logger
	registry *prometheus.Registry // Go and process metrics; /metrics adds the recorder's

	baselines *baseline.Tracker
	replicas  *siblings.Tracker
	recorder  *metrics.Recorder
	page      *status.Page
	turns     *store.Log // nil without a turn log
	spans     *tracing.Tracer
	sinks     sink.Fanout

	scheduler *load.Scheduler
	servers   *serverside.Watcher
	canaries  *canaries
	models    *discovery.ModelFollower
	discovery *discovery.Follower
	limits    httpLimits
	resources targetResources

	// The first configuration decides whether there is a pager, a Prometheus to read
	// older series from, and an export of spans. Later configurations cannot change that.
	configured bool
	pager      *alerting.Pager
	alerting   *config.Alerting
	prometheus *config.Prometheus
	tracing    *config.Tracing
	// written is the configuration in force, before models and discovered targets are
	// filled in.
	written *config.Config

	// lacksKernelTimestamps is true while a target is reached in a way that has none.
	lacksKernelTimestamps atomic.Bool
	hasMarkedStart        atomic.Bool

	loading     sync.Mutex       // held during a load
	fileVersion string           // of the configuration file at the last load
	stateLock   *atomicfile.Lock // nil without a state file
	saving      sync.Mutex       // held while state files are written
}

// New returns a sidecar without jobs. It reads the state file, if there is one. If the file
// cannot be used, New returns an error and leaves the file unchanged.
func New(o Options) (*Sidecar, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	s := &Sidecar{
		options: o, logger: o.Logger, registry: prometheus.NewRegistry(), spans: &tracing.Tracer{},
		limits: newHTTPLimits(), resources: newResources(), replicas: siblings.New(nil),
	}
	if err := s.openTurns(); err != nil {
		return nil, err
	}
	s.models = s.newModelFollower()
	s.discovery = discovery.New(discovery.Options{Logger: o.Logger, Changed: s.targetsChanged})
	s.baselines = baseline.NewTracker(baseline.TrackerOptions{Awaited: s.awaits, HistoryRefused: s.historyRefused})
	s.scheduler = s.newScheduler()
	s.recorder = s.newRecorder()
	s.canaries = newCanaries(s)
	s.page = s.newPage()
	s.servers = serverside.NewWatcher(serverside.WatcherOptions{Dial: o.Dial, Logger: o.Logger, Report: s.recorder.ServerRead})
	// The baselines come first: the recorder and the page read them.
	s.sinks = sink.Fanout{s.baselines, s.recorder, s.replicas, s.page, newJournal(o.Events), s.spans}
	if s.turns != nil {
		s.sinks = append(s.sinks, s.turns)
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := s.restore(); err != nil {
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

// Apply puts a new configuration into force. It checks all parts, the rules included, before
// it changes any, so a rejected configuration changes nothing.
func (s *Sidecar) Apply(cfg *config.Config) error {
	err := s.apply(cfg)
	s.recorder.SetReload(err == nil, time.Now())
	if err == nil {
		s.page.Mark(s.applied())
	}
	return err
}

// applied returns the mark that charts show for a new configuration.
func (s *Sidecar) applied() status.Mark {
	if s.hasMarkedStart.Swap(true) {
		return status.Mark{Kind: status.MarkReload, Text: "another configuration"}
	}
	return status.Mark{Kind: status.MarkStart, Text: "synthetic " + version.Version}
}

func (s *Sidecar) apply(written *config.Config) error {
	cfg := written.Expand(s.models.Listed(), s.discovery.Found(written.Discovery)).Of(s.options.Shard)
	// The rules cover all targets that any shard may discover, so they do not change when
	// targets come and go.
	pager, err := s.preparePager(written.ForRules())
	if err != nil {
		return err
	}
	if err := s.applyJobs(cfg); err != nil {
		pager.cancel()
		return err
	}
	s.canaries.apply(cfg)
	s.written = written
	s.models.Follow(written.Of(s.options.Shard).Models)
	s.discovery.Follow(written.Discovery)
	s.saveTargets()
	if !s.configured {
		s.prometheus = cfg.Prometheus
	}
	s.configured = true
	return pager.commit()
}

// applyJobs starts, changes and stops jobs as cfg says.
func (s *Sidecar) applyJobs(cfg *config.Config) error {
	commitTracing, err := s.prepareTracing(cfg)
	if err != nil {
		return err
	}
	commitServers, err := s.servers.Prepare(cfg.ServerMetrics)
	if err != nil {
		return err
	}
	// Spans must be exported from the first job on.
	if err := commitTracing(); err != nil {
		return err
	}
	jobs := make([]probe.Job, len(cfg.Jobs))
	for i, j := range cfg.Jobs {
		jobs[i] = j.Job
	}
	err = s.scheduler.Apply(jobs, func() {
		s.lacksKernelTimestamps.Store(slices.ContainsFunc(cfg.Targets, func(t target.Target) bool { return !wire.Exact(t.HTTP) }))
		s.recorder.SetMode(metrics.Mode(cfg.Metrics))
		for _, j := range cfg.Jobs {
			s.sinks.Add(j)
		}
	})
	if err != nil {
		return err
	}
	commitServers()
	return nil
}

// targetsChanged applies the configuration again, with the targets and models found by now.
func (s *Sidecar) targetsChanged() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	err := s.apply(s.written)
	if err != nil {
		s.logger.Error("Rejected a change of models or targets", "err", err)
	}
	return err
}

// removed forgets a job after its last event.
func (s *Sidecar) removed(job probe.Key) {
	s.sinks.Remove(job)
	s.resources.forget(job)
}

// Restore takes over the states and histories of jobs that an earlier process saved.
func (s *Sidecar) Restore(states baseline.File, histories map[probe.Key][]byte) {
	s.baselines.Restore(states, histories)
}

// Baselines returns the states of all jobs, for the state file.
func (s *Sidecar) Baselines() baseline.File { return s.baselines.States() }

// Gatherer returns the series of /metrics, without those of the process.
func (s *Sidecar) Gatherer() prometheus.Gatherer { return s.recorder }

// Status returns what the status page shows.
func (s *Sidecar) Status() status.Snapshot { return s.page.Snapshot() }
