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
	final  bool      // there will be no other one
	err    string
	since  time.Time // when it began to fail
	failed time.Time // when that was told last
	begun  time.Time // when it was first asked
	every  time.Duration
}

func newSources(g Group, changed func()) []*source {
	out := []*source{} // and not nil: a group without any is known, too
	for _, c := range g.Sources {
		s := &source{config: c, changed: changed, groups: map[string]*targetgroup.Group{}, every: interval(c)}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		out = append(out, s)
	}
	return out
}

const (
	// again is the time until a discovery that could not begin is tried again.
	again = 30 * time.Second
	// silence is how long files and names may take to be read.
	silence = time.Minute
)

// interval is how often files or names are asked anew, of which each answers for
// itself; 0 where an answer is all that there is.
func interval(c prom.Config) time.Duration {
	switch c := c.(type) {
	case *file.SDConfig:
		return time.Duration(c.RefreshInterval)
	case *dns.SDConfig:
		return time.Duration(c.RefreshInterval)
	}
	return 0
}

// run asks until ctx is done or the source is stopped, and waits for the discoverer.
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
	registry := prometheus.NewRegistry() // of this source alone, and shown nowhere
	refresh := prom.NewRefreshMetrics(registry)
	metrics := s.config.NewDiscovererMetrics(registry, refresh)
	if err := errors.Join(refresh.Register(), metrics.Register()); err != nil {
		return err
	}
	return s.discover(s.ctx, prom.DiscovererOptions{Logger: slog.New(listener{s, logger.Handler()}), Metrics: metrics, SetName: "discovery"})
}

// discover takes in what the discoverer sends. One that gives up, as that of files
// where the system watches no more of them, has told its log why.
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
			case <-updates: // it was closed: all was said
			default:
				return nil
			}
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

// look notes what silence says. Which files or names fail is told whenever they are
// asked: none does any more if that was long ago, whatever the others answer. And no
// file is left where nothing comes: the discoverer of files does not say that.
func (s *source) look() {
	now := time.Now()
	if s.every > 0 && s.err != "" && now.Sub(s.failed) > s.every+silence {
		s.err, s.since = "", time.Time{}
	}
	if s.config.Name() == "file" && s.err == "" && s.at.IsZero() && !s.begun.IsZero() && now.Sub(s.begun) > silence {
		s.at = now
	}
}

// begins notes that the source is asked from now on.
func (s *source) begins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
}

// ends notes that all was said that there is to say, as of a static source.
func (s *source) ends() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = true
}

// found has the labels of each object, in the order of their sources, and whether
// anything was ever said.
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

// standing is when the source last said what there is, zero for never, and what is
// wrong now, since when.
func (s *source) standing() (at time.Time, why string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	if s.final {
		return time.Now(), s.err, s.since
	}
	return s.at, s.err, s.since
}

// fails notes what went wrong, and reports whether that is news.
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

// query matches those of addresses, which may have keys.
var query = regexp.MustCompile(`\?[^\s"]+`)

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
