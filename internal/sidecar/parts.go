package sidecar

import (
	"reflect"
	"time"

	"github.com/prometheus/common/version"

	"synthetic/internal/config"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/sidecar/tracing"
)

// The constructors of parts, and the functions that New passes to parts.

func (s *Sidecar) newScheduler() *load.Scheduler {
	return load.New(load.Options{
		Sink: &s.sinks, Logger: s.logger, Replica: s.options.Replica, DrainTimeout: s.options.DrainTimeout,
		NewProber: s.newProber, Memory: s.resources.memory, Sign: s.baselines.Sign, OnRemoved: s.removed,
	})
}

func (s *Sidecar) newProber(j probe.Job) (load.Prober, error) {
	return probe.New(probe.Options{
		Target: j.Target, Workload: j.Workload, Dial: s.options.Dial,
		Connections: s.resources.connections, Peaks: s.resources.peaks,
		Learned: s.resources.learnedOf(&j), Lag: s.options.Lag, Traced: s.spans.Traced,
		Sent: s.recorder.RequestsOf(j.Target.Name),
	})
}

func (s *Sidecar) removed(job probe.Key) {
	s.sinks.Remove(job)
	s.resources.forget(job)
}

func (s *Sidecar) serverRead(target string, r serverside.Reading) {
	s.recorder.ServerRead(target, r)
	s.page.ServerRead(target, r)
}

func (s *Sidecar) newRecorder() *metrics.Recorder {
	var turnsDropped func() uint64 // nil without a turn log
	if s.turns != nil {
		turnsDropped = s.turns.Dropped
	}
	return metrics.NewRecorder(metrics.Options{
		Build: buildInfo(), Host: s.options.Replica, TimestampSource: s.timestampSource(),
		Baselines: s.baselines,
		Heartbeat: s.scheduler.LastBeat,
		Discovery: s.discovery.Standings, Leased: s.discovery.Leased,
		Backends: s.resources.backends, Bounds: s.bounds(), Lag: s.options.Lag.Lag, TurnLog: turnsDropped,
	})
}

func (s *Sidecar) newPage() *status.Page {
	return status.New(status.Options{
		Alerts: s.alerts, Discovery: s.discovery.Standings, Baseline: s.baselines.Read, Lag: s.options.Lag.Lag,
	})
}

// timestampSource returns the function that names the source of event times.
func (s *Sidecar) timestampSource() func() string {
	source := wire.TimestampSource() // queries the kernel
	return func() string {
		if s.lacksKernelTimestamps.Load() {
			return "read"
		}
		return source
	}
}

// awaits reports whether a target without jobs may still be listed or discovered.
func (s *Sidecar) awaits(target string) bool {
	return s.discovery.Awaits(target)
}

func (s *Sidecar) historyRefused(job probe.Key, err error) {
	s.logger.Error("Discarding the stored history of a job: its baseline is learned again", "target", job.Target, "workload", job.Workload, "err", err)
}

func buildInfo() metrics.Build {
	return metrics.Build{
		Version: version.Version, Revision: version.GetRevision(), Branch: version.Branch,
		GoVersion: version.GoVersion, GOOS: version.GoOS, GOARCH: version.GoArch, Tags: version.GetTags(),
	}
}

// exportTimeout bounds one export of spans, retries included.
const exportTimeout = 10 * time.Second

// prepareTracing starts the export of spans. Later configurations cannot change it.
func (s *Sidecar) prepareTracing(c *change, t *config.Tracing) error {
	switch {
	case s.first != nil && !reflect.DeepEqual(s.first.Tracing, t):
		return refused("tracing: cannot change while the process runs: restart it, or undo the change")
	case s.first != nil || t == nil:
		return nil
	}
	client, err := target.NewClient(t.HTTP, "tracing")
	if err != nil {
		return refused("tracing: %w", err)
	}
	c.rollbacks = append(c.rollbacks, s.spans.Close)
	return s.spans.Start(tracing.Options{
		URL: t.Endpoint(), Client: client, Timeout: exportTimeout, Version: version.Version, Logger: s.logger,
	})
}
