package main

import (
	"context"

	oklog "github.com/oklog/run"

	"synthetic/internal/config"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/metrics"
)

// newServers follows the metrics of the targets that have any configured.
func newServers(o sidecarOptions, recorder *metrics.Recorder) *serverside.Watcher {
	return serverside.NewWatcher(serverside.WatcherOptions{
		Dial: o.dial, Logger: o.logger,
		Report: func(target string, r serverside.Reading) {
			recorder.ServerRead(target, metrics.ServerReading{
				Complete: r.Complete, Counted: r.Counted, Drafted: r.Drafted, Accepted: r.Accepted,
				Gauged: r.Gauged, Acceptance: r.Acceptance,
			})
		},
	})
}

// serversFor prepares what a configuration wants to be read.
func (s *sidecar) serversFor(cfg *config.Config) (commit func(), err error) {
	return s.servers.Prepare(cfg.ServerMetrics)
}

// snapshotTargets are the targets as the recorder knows them.
func snapshotTargets(cfg *config.Config) []metrics.Target {
	read := map[string]bool{}
	for _, m := range cfg.ServerMetrics {
		read[m.Target.Name] = true
	}
	var out []metrics.Target
	for _, t := range cfg.Targets {
		out = append(out, metrics.Target{
			Name: t.Name, Model: t.Model, Connection: string(t.Connection), ServerMetrics: read[t.Name],
		})
	}
	return out
}

// addServers reads the servers' metrics until the group ends.
func (s *sidecar) addServers(g *oklog.Group) {
	ctx, cancel := context.WithCancel(context.Background())
	g.Add(func() error { return s.servers.Run(ctx) }, func(error) { cancel() })
}
