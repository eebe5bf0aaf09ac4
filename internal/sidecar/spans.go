package sidecar

import (
	"reflect"
	"time"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/version"

	"synthetic/internal/config"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/tracing"
)

// exportTimeout bounds one export of spans, retries included.
const exportTimeout = 10 * time.Second

// prepareTracing checks the span export of a configuration. The first configuration starts it;
// later ones cannot change it. The returned function puts the change into force.
func (s *Sidecar) prepareTracing(cfg *config.Config) (commit func() error, err error) {
	nothing := func() error { return nil }
	t := cfg.Tracing
	if s.configured {
		if !reflect.DeepEqual(s.tracing, t) {
			return nil, refused("tracing: cannot change while the process runs: restart it, or undo the change")
		}
		return nothing, nil
	}
	if t == nil {
		return nothing, nil
	}
	client, err := promconfig.NewClientFromConfig(t.HTTP, "tracing")
	if err != nil {
		return nil, refused("tracing: %w", err)
	}
	return func() error {
		s.tracing = t
		return s.spans.Start(tracing.Options{
			URL: t.Endpoint(), Client: client, Timeout: exportTimeout, Version: version.Version, Logger: s.logger,
		})
	}, nil
}

// spanCounts returns the counts of exported and lost spans, and false without an export.
func (s *Sidecar) spanCounts() (metrics.Spans, bool) {
	c, on := s.spans.Counts()
	return metrics.Spans(c), on
}
