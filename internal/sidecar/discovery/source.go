package discovery

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/dns"
	"github.com/prometheus/prometheus/discovery/file"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
)

// source is one discoverer of Prometheus.
type source struct {
	config  prom.Config
	changed func()
	started bool // guarded by the follower's lock
	// ctx ends when the source is no longer needed.
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	groups map[string]*targetgroup.Group
	at     time.Time // of the last answer
	final  bool      // the source has given its only answer
	err    string
	since  time.Time // when it began to fail
	failed time.Time // when the failure was last reported
	begun  time.Time // when it was first asked
	every  time.Duration
}

func newSources(g Group, changed func()) []*source {
	out := []*source{} // not nil: the group is known even without sources
	for _, c := range g.Sources {
		s := &source{config: c, changed: changed, groups: map[string]*targetgroup.Group{}, every: interval(c)}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		out = append(out, s)
	}
	return out
}

const (
	// again is the time until a discovery that could not start is tried again.
	again = 30 * time.Second
	// silence is how long reading files or names may take.
	silence = time.Minute
)

// interval returns the refresh interval of files or names, each of which fails on its own; 0
// for a source whose answer is complete.
func interval(c prom.Config) time.Duration {
	switch c := c.(type) {
	case *file.SDConfig:
		return time.Duration(c.RefreshInterval)
	case *dns.SDConfig:
		return time.Duration(c.RefreshInterval)
	}
	return 0
}

// run follows the source until it is stopped, and waits for the discoverer.
func (s *source) run(ctx context.Context, logger *slog.Logger) {
	defer context.AfterFunc(ctx, s.cancel)()
	for s.ctx.Err() == nil {
		if err := s.begin(logger); err != nil && s.fails(err.Error()) {
			logger.Error("A discovery does not begin", "err", err)
		}
		timer := time.NewTimer(again)
		select {
		case <-s.ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// begin runs the discoverer until the source is stopped.
func (s *source) begin(logger *slog.Logger) error {
	registry := prometheus.NewRegistry() // metrics of this source, which nobody reads
	refresh := prom.NewRefreshMetrics(registry)
	metrics := s.config.NewDiscovererMetrics(registry, refresh)
	if err := errors.Join(refresh.Register(), metrics.Register()); err != nil {
		return err
	}
	return s.discover(s.ctx, prom.DiscovererOptions{Logger: slog.New(listener{s, logger.Handler()}), Metrics: metrics, SetName: "discovery"})
}

// discover takes the discoverer's answers. A discoverer that gives up has logged the reason,
// for example that of files if the system has no watches left.
func (s *source) discover(ctx context.Context, o prom.DiscovererOptions) error {
	d, err := s.config.NewDiscoverer(o)
	if err != nil {
		return err
	}
	s.begins()
	updates := make(chan []*targetgroup.Group)
	over := make(chan struct{})
	go func() {
		defer close(over)
		d.Run(ctx, updates)
	}()
	for {
		select {
		case groups, open := <-updates:
			if !open {
				s.ends()
				<-ctx.Done()
				<-over
				return nil
			}
			s.take(groups)
		case <-over:
			select {
			case <-updates: // closed: that was the last answer
			default:
				return nil
			}
		}
	}
}

// take records an answer.
func (s *source) take(groups []*targetgroup.Group) {
	if len(groups) == 0 && s.config.Name() == "dns" {
		return // sent if no name was resolved
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range groups {
		switch {
		case g == nil:
		case len(g.Targets) == 0:
			delete(s.groups, g.Source)
		default:
			s.groups[g.Source] = g
		}
	}
	s.at = time.Now()
	if s.every == 0 {
		s.err, s.since = "", time.Time{}
	}
	s.changed()
}

// look draws conclusions from silence. A discoverer reports files or names that fail at each
// refresh, so none fails if there was no report for long. If no answer came at all, no file
// exists, which the discoverer of files does not report.
func (s *source) look() {
	now := time.Now()
	if s.every > 0 && s.err != "" && now.Sub(s.failed) > s.every+silence {
		s.err, s.since = "", time.Time{}
	}
	if s.config.Name() == "file" && s.err == "" && s.at.IsZero() && !s.begun.IsZero() && now.Sub(s.begun) > silence {
		s.at = now
	}
}

// begins records that the source is asked from now on.
func (s *source) begins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
}

// ends records that the source has given its only answer.
func (s *source) ends() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = true
}

// found returns the labels of each object, and whether the source has answered.
func (s *source) found() (all []labels.Labels, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[name]
		for _, t := range g.Targets {
			b := labels.NewScratchBuilder(len(t) + len(g.Labels))
			for k, v := range g.Labels {
				if _, own := t[k]; !own {
					b.Add(string(k), string(v))
				}
			}
			for k, v := range t {
				b.Add(string(k), string(v))
			}
			b.Sort()
			all = append(all, b.Labels())
		}
	}
	return all, !s.at.IsZero()
}

// standing returns the time of the last answer (zero for never), the current error and its
// beginning.
func (s *source) standing() (at time.Time, why string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	if s.final {
		return time.Now(), s.err, s.since
	}
	return s.at, s.err, s.since
}

// fails records an error, and reports whether it is new.
func (s *source) fails(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	s.failed = time.Now()
	if s.err == "" {
		s.since = s.failed
	}
	news := s.err != why
	s.err = why
	return news
}

// query matches the queries of addresses, which may contain keys.
var query = regexp.MustCompile(`\?[^\s"]+`)

// listener reads a discoverer's log, the only place where it reports failures, and passes on
// new ones.
type listener struct {
	source *source
	slog.Handler
}

func (l listener) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || l.Handler.Enabled(ctx, level)
}

func (l listener) WithAttrs(attrs []slog.Attr) slog.Handler {
	return listener{l.source, l.Handler.WithAttrs(attrs)}
}

func (l listener) WithGroup(name string) slog.Handler {
	return listener{l.source, l.Handler.WithGroup(name)}
}

func (l listener) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		text := []string{r.Message}
		r.Attrs(func(a slog.Attr) bool {
			text = append(text, a.Value.String())
			return true
		})
		said := query.ReplaceAllString(strings.Join(text, ": "), "?…")
		if !l.source.fails(said) {
			return nil
		}
		r = slog.NewRecord(r.Time, r.Level, said, r.PC)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}
