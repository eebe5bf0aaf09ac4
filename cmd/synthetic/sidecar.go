package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/version"

	"synthetic/internal/alerting"
	"synthetic/internal/config"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
)

// sidecar holds the parts of a running prober together. Data flows one way:
// configuration → scheduler → prober → result → recorder and page.
type sidecar struct {
	options   sidecarOptions
	logger    *slog.Logger
	registry  *prometheus.Registry // Go and process collectors; the recorder has its own way
	recorder  *metrics.Recorder
	page      *status.Page
	scheduler *load.Scheduler
	servers   *serverside.Watcher
	// pager is nil unless the first configuration asked for one.
	pager      *pager
	configured bool
	onAlert    func(alerting.Change)
	// inexact says that a target is reached in a way that has no kernel
	// timestamps.
	inexact atomic.Bool
}

// sidecarOptions are what run and demo choose differently.
type sidecarOptions struct {
	logger *slog.Logger
	// events gets a line when a job begins to fail or is well again; nil for
	// none.
	events       *slog.Logger
	drainTimeout time.Duration
	// replica spreads the schedules of processes that probe the same; "" means
	// the host's name.
	replica string
	// dial opens the connections to targets and Alertmanagers; nil means TCP.
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func newSidecar(o sidecarOptions) (*sidecar, error) {
	s := &sidecar{options: o, logger: o.logger, registry: prometheus.NewRegistry(), onAlert: logAlert(o.logger)}
	source := wire.TimestampSource() // asks the kernel, once
	s.recorder = metrics.NewRecorder(metrics.Options{
		Build:           build(),
		TimestampSource: func() string {
			if s.inexact.Load() {
				return "read"
			}
			return source
		},
		Heartbeat:       func(target, workload string) time.Time { return s.scheduler.LastBeat(target, workload) },
	})
	s.page = status.New(status.Options{Alerts: s.alerts})
	replica, err := o.replicaName()
	if err != nil {
		return nil, err
	}
	journal := newJournal(cmp.Or(o.events, slog.New(slog.DiscardHandler)))
	s.scheduler = load.New(load.Options{
		Sink:         tee{s.recorder, s.page, journal},
		Logger:       o.logger,
		Replica:      replica,
		DrainTimeout: o.drainTimeout,
		NewProber: func(j load.Job) (load.Prober, error) {
			p, err := probe.New(probe.Options{Target: j.Target, Workload: j.Workload, User: j.User, Dial: o.dial})
			if err != nil {
				return nil, err
			}
			return modelReporter{p, j.Target.Name, s.recorder}, nil
		},
		OnRemoved: func(target, workload string) {
			s.recorder.Forget(target, workload)
			s.page.Forget(target, workload)
			journal.forget(target, workload)
		},
	})
	s.servers = newServers(o, s.recorder)
	s.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return s, nil
}

func (o sidecarOptions) replicaName() (string, error) {
	if o.replica != "" {
		return o.replica, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("reading the host's name, which spreads the replicas' schedules: %w", err)
	}
	return name, nil
}

// apply hands a new configuration down. On an error nothing has changed.
func (s *sidecar) apply(cfg *config.Config) error {
	page, err := s.pageFor(cfg)
	if err != nil {
		return err
	}
	servers, err := s.serversFor(cfg)
	if err != nil {
		return err
	}
	snapshot, expected := snapshotOf(cfg), expectedOf(cfg)
	inexact := slices.ContainsFunc(cfg.Targets, func(t target.Target) bool { return !wire.Exact(t.HTTP) })
	err = s.scheduler.Apply(cfg.Jobs, func() {
		s.inexact.Store(inexact)
		s.recorder.Apply(snapshot)
		s.page.Apply(cfg.SLOs)
		s.page.Expect(expected)
	})
	if err != nil {
		return err
	}
	servers()
	s.configured = true
	return page()
}

// build describes this binary.
func build() metrics.Build {
	return metrics.Build{
		Version: version.Version, Revision: version.GetRevision(), Branch: version.Branch,
		GoVersion: version.GoVersion, GOOS: version.GoOS, GOARCH: version.GoArch, Tags: version.GetTags(),
	}
}

// modelReporter tells the recorder which model a target turned out to serve.
type modelReporter struct {
	*probe.Prober
	target   string
	recorder *metrics.Recorder
}

func (m modelReporter) Model(ctx context.Context) (string, error) {
	model, err := m.Prober.Model(ctx)
	if err == nil {
		m.recorder.SetModel(m.target, model)
	}
	return model, err
}

// tee hands everything to several sinks, in order.
type tee []load.Sink

func (t tee) TurnStarted(s probe.Start) {
	for _, sink := range t {
		sink.TurnStarted(s)
	}
}

func (t tee) TurnEnded(r probe.Result) {
	for _, sink := range t {
		sink.TurnEnded(r)
	}
}

func (t tee) ConversationStarted(s probe.ConversationStart) {
	for _, sink := range t {
		sink.ConversationStarted(s)
	}
}

func (t tee) ConversationEnded(c probe.Conversation) {
	for _, sink := range t {
		sink.ConversationEnded(c)
	}
}

func (t tee) ConversationSkipped(s probe.Skip) {
	for _, sink := range t {
		sink.ConversationSkipped(s)
	}
}
