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
		Report: recorder.ServerRead,
	})
}

// serversFor prepares what a configuration wants to be read.
func (s *sidecar) serversFor(cfg *config.Config) (commit func(), err error) {
	var set []serverside.Watched
	for _, m := range cfg.ServerMetrics {
		set = append(set, serverside.Watched{Target: m.Target, URLs: m.URLs, Interval: m.Interval})
	}
	return s.servers.Prepare(set)
}

// addServers reads the servers' metrics until the group ends.
func (s *sidecar) addServers(g *oklog.Group) {
	ctx, cancel := context.WithCancel(context.Background())
	g.Add(func() error { return s.servers.Run(ctx) }, func(error) { cancel() })
}
