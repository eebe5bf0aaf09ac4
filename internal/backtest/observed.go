package backtest

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
)

// prober is the part of a sidecar that turns events into series.
type prober struct {
	sink.Fanout
	baselines *baseline.Tracker
	recorder  *metrics.Recorder
}

// newProber returns the sinks of a process that has just started, on the clock now.
func newProber(now func() time.Time) prober {
	baselines := baseline.NewTracker(baseline.TrackerOptions{Now: now})
	recorder := metrics.NewRecorder(metrics.Options{
		Now: now, Build: metrics.Build{Version: "backtest"}, Baselines: baselines,
		Heartbeat: func(probe.Key) time.Time { return now() },
	})
	recorder.SetReload(true, now())
	return prober{sink.Fanout{baselines, recorder}, baselines, recorder}
}
