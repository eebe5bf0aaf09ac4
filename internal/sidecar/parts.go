package sidecar

import (
	"context"

	"github.com/prometheus/common/version"

	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/status"
)

// The constructors of the parts that New wires together.

func (s *Sidecar) newScheduler() *load.Scheduler {
	return load.New(load.Options{
		Sink: &s.sinks, Logger: s.logger, Replica: s.options.Replica, DrainTimeout: s.options.DrainTimeout,
		NewProber: s.newProber, Memory: s.resources.memory, Sign: s.baselines.Sign, OnRemoved: s.removed,
	})
}

func (s *Sidecar) newProber(j probe.Job) (load.Prober, error) {
	shared := s.resources.forJob(j.Key())
	return probe.New(probe.Options{
		Target: j.Target, Workload: j.Workload, User: j.User, Dial: s.options.Dial,
		Connections: s.resources.connections, Pacer: &shared.pacer, Peaks: s.resources.peaks,
		Learned: &shared.learned, Lag: s.options.Lag, Traced: s.spans.Traced,
	})
}

func (s *Sidecar) newModelFollower() *discovery.ModelFollower {
	return discovery.NewModelFollower(discovery.ModelOptions{
		Logger: s.logger, Changed: func() { _ = s.targetsChanged() },
		List: func(ctx context.Context, t target.Target) ([]string, error) {
			return probe.ListModels(ctx, probe.Options{Target: t, Dial: s.options.Dial, Connections: s.resources.connections})
		},
	})
}

func (s *Sidecar) newRecorder() *metrics.Recorder {
	return metrics.NewRecorder(metrics.Options{
		Build: build(), Host: s.options.Replica, TimestampSource: s.timestampSource(),
		Baselines: s.baselines, Siblings: s.replicas.Views,
		Heartbeat: s.scheduler.LastBeat, Throttled: s.resources.throttled,
		Models: s.models.Listings, Discovery: s.discovery.Standings, Leased: s.discovery.Leased,
		Bounds: s.bounds(), Lag: s.options.Lag.Lag, TurnLog: s.turnLog(), Spans: s.spanCounts,
	})
}

func (s *Sidecar) newPage() *status.Page {
	return status.New(status.Options{
		Alerts: s.alerts, Discovery: s.discovery.Standings, Siblings: s.replicas.Views,
		Baseline: s.baselines.Read, Canary: s.canaries.reading, Lag: s.options.Lag.Lag,
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
	return s.models.Awaits(target) || s.discovery.Awaits(target)
}

func (s *Sidecar) historyRefused(job probe.Key, err error) {
	s.logger.Error("Discarding the stored history of a job: its baseline is learned again", "target", job.Target, "workload", job.Workload, "err", err)
}

func build() metrics.Build {
	return metrics.Build{
		Version: version.Version, Revision: version.GetRevision(), Branch: version.Branch,
		GoVersion: version.GoVersion, GOOS: version.GoOS, GOARCH: version.GoArch, Tags: version.GetTags(),
	}
}
