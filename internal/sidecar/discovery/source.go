package discovery

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
)

// source is one discoverer of Prometheus' kind.
type source struct {
	config  prom.Config
	changed func()
	started bool // the follower's lock guards it
	// ctx is done when the source is no longer wanted.
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	groups map[string]*targetgroup.Group
	at     time.Time // of the last answer
	err    string
	since  time.Time
}

func newSources(g Group, changed func()) []*source {
	out := []*source{} // and not nil: a group without any is known, too
	for _, c := range g.Sources {
		s := &source{config: c, changed: changed, groups: map[string]*targetgroup.Group{}}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		out = append(out, s)
	}
	return out
}

// run asks until ctx is done or the source is stopped, and waits for the discoverer.
func (s *source) run(ctx context.Context, logger *slog.Logger) {
	defer context.AfterFunc(ctx, s.cancel)()
	registry := prometheus.NewRegistry() // of this source alone, and shown nowhere
	refresh := prom.NewRefreshMetrics(registry)
	metrics := s.config.NewDiscovererMetrics(registry, refresh)
	err := errors.Join(refresh.Register(), metrics.Register())
	if err == nil {
		err = s.discover(s.ctx, prom.DiscovererOptions{Logger: slog.New(listener{s, logger.Handler()}), Metrics: metrics, SetName: "discovery"})
	}
	if err != nil {
		s.fails(err.Error())
		logger.Error("A discovery does not begin", "err", err)
	}
}

// discover takes in what the discoverer sends.
func (s *source) discover(ctx context.Context, o prom.DiscovererOptions) error {
	d, err := s.config.NewDiscoverer(o)
	if err != nil {
		return err
	}
	updates := make(chan []*targetgroup.Group)
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx, updates) })
	defer running.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case groups, open := <-updates:
			if !open { // all that there will be was said
				updates = nil
				continue
			}
			s.take(groups)
		}
	}
}

// take takes in an answer.
func (s *source) take(groups []*targetgroup.Group) {
	if len(groups) == 0 && s.config.Name() == "dns" {
		return // which sends so if no name was answered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range groups {
		if g == nil {
			continue
		}
		if len(g.Targets) == 0 {
			delete(s.groups, g.Source)
			continue
		}
		s.groups[g.Source] = g
	}
	s.at, s.err, s.since = time.Now(), "", time.Time{}
	s.changed()
}

// found has the labels of each object, in the order of their sources, and when that
// was said; the zero time for never.
func (s *source) found() ([]labels.Labels, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []labels.Labels
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
			out = append(out, b.Labels())
		}
	}
	return out, s.at
}

func (s *source) failing() (why string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err, s.since
}

// fails notes what went wrong, and reports whether that is news.
func (s *source) fails(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == "" {
		s.since = time.Now()
	}
	news := s.err != why
	s.err = why
	return news
}

// listener hears what a discoverer says of its failures, which it tells its log
// alone, and passes on what is news.
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
		if !l.source.fails(strings.Join(text, ": ")) {
			return nil
		}
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}
