package sidecar

import (
	"reflect"

	"github.com/prometheus/common/version"

	"synthetic/internal/config"
	"synthetic/internal/load"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/tracing"
)

func (s *Sidecar) newProber(j probe.Job) (load.Prober, error) {
	return probe.New(probe.Options{
		Target: j.Target, Workload: j.Workload, Dial: s.options.Dial,
		Connections: s.resources.connections, Peaks: s.resources.peaks,
		Learned: s.resources.learnedOf(&j), Lag: s.options.Lag, Traced: s.spans.Traced,
		Sent: s.recorder.RequestsOf(j.Target.Name),
	})
}

func (s *Sidecar) newRecorder() *metrics.Recorder {
	var turnsDropped func() uint64 // nil without a turn log
	if s.turns != nil {
		turnsDropped = s.turns.Dropped
	}
	return metrics.NewRecorder(metrics.Options{
		Build: metrics.Build{
			Version: version.Version, Revision: version.GetRevision(), Branch: version.Branch,
			GoVersion: version.GoVersion, GOOS: version.GoOS, GOARCH: version.GoArch, Tags: version.GetTags(),
		},
		Host: s.options.Replica, TimestampSource: s.resources.timestampSource(),
		Baselines: s.baselines,
		Heartbeat: s.scheduler.LastBeat,
		Discovery: s.discovery.Standings, Leased: s.discovery.Leased,
		Backends: s.resources.backends, Bounds: s.resources.bounds(), Lag: s.options.Lag.Lag, TurnLog: turnsDropped,
	})
}

// timestampSource names the source of event times.
func (r *targetResources) timestampSource() func() string {
	source := wire.TimestampSource() // queries the kernel
	return func() string {
		if r.untimed.Load() {
			return "read"
		}
		return source
	}
}

// prepareTracing starts the export of spans. Later configurations cannot change it.
func (s *Sidecar) prepareTracing(c *change, t *config.Tracing) error {
	switch {
	case s.written != nil && !reflect.DeepEqual(s.tracing, t):
		return refused("tracing: cannot change while the process runs: restart it, or undo the change")
	case s.written != nil || t == nil:
		return nil
	}
	client, err := target.NewClient(t.HTTP, "tracing")
	if err != nil {
		return refused("tracing: %w", err)
	}
	c.rollbacks = append(c.rollbacks, s.spans.Close)
	c.commits = append(c.commits, func() { s.tracing = t })
	return s.spans.Start(tracing.Options{
		URL: t.Endpoint(), Client: client, Version: version.Version, Logger: s.options.Logger,
	})
}
