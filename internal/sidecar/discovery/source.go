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
	"github.com/prometheus/prometheus/discovery/http"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

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
	began  time.Time // when the discoverer first ran
	// refresh is the refresh interval of a source whose files or names fail separately; 0 for a
	// source whose answer is complete.
	refresh time.Duration
}

func newSources(g Group, changed func()) []*source {
	out := []*source{} // not nil, so that Follow calls this once for a group without sources
	for _, c := range g.Sources {
		s := &source{config: c, changed: changed, groups: map[string]*targetgroup.Group{}, refresh: refreshInterval(c)}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		out = append(out, s)
	}
	return out
}

const (
	// again is the time until a discoverer that could not start, or a rejected change, is tried
	// again.
	again = 30 * time.Second
	// silence is how long reading files or names may take.
	silence = time.Minute
)

func refreshInterval(c prom.Config) time.Duration {
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
		if err := s.discover(logger); err != nil && s.fail(err.Error()) {
			logger.Error("A discovery cannot start", "err", err)
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(again):
		}
	}
}

// rememberSecrets tells package redact the secrets of a source that asks a server.
func (s *source) rememberSecrets() {
	if c, ok := s.config.(*http.SDConfig); ok {
		target.RememberSecrets(c.HTTPClientConfig)
	}
}

func (s *source) discover(logger *slog.Logger) error {
	registry := prometheus.NewRegistry() // the discoverer needs one; its metrics are not exposed
	refresh := prom.NewRefreshMetrics(registry)
	metrics := s.config.NewDiscovererMetrics(registry, refresh)
	if err := errors.Join(refresh.Register(), metrics.Register()); err != nil {
		return err
	}
	d, err := s.config.NewDiscoverer(prom.DiscovererOptions{Logger: slog.New(listener{s, logger.Handler()}), Metrics: metrics, SetName: "discovery"})
	if err == nil {
		s.follow(d)
	}
	return err
}

// follow takes the discoverer's answers until it ends or the source is stopped. A discoverer that
// ends by itself has logged the reason, for example that the system allows no more file watches.
func (s *source) follow(d prom.Discoverer) {
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.mu.Unlock()
	updates := make(chan []*targetgroup.Group)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(target.RememberingSent(s.ctx), updates)
	}()
	for {
		select {
		case groups, open := <-updates:
			if open {
				s.record(groups)
				continue
			}
			s.mu.Lock()
			s.final = true // a discoverer that closes the channel gives no more answers
			s.mu.Unlock()
			<-s.ctx.Done()
			<-ended
			return
		case <-ended:
			select {
			case <-updates: // the channel is closed
			default:
				return
			}
		}
	}
}

func (s *source) record(groups []*targetgroup.Group) {
	s.rememberSecrets() // the server may repeat them in labels
	if len(groups) == 0 && s.config.Name() == "dns" {
		return // it sends an empty answer if no name was resolved
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
	if s.refresh == 0 {
		s.err, s.since = "", time.Time{}
	}
	s.changed()
}

// checkSilence draws conclusions from a lack of reports. A discoverer reports the files or names
// that fail at each refresh. If it has reported no failure for longer, it has recovered. The
// discoverer of files reports nothing if no file exists, so a long silence after its start counts as
// an empty answer.
func (s *source) checkSilence() {
	now := time.Now()
	if s.refresh > 0 && s.err != "" && now.Sub(s.failed) > s.refresh+silence {
		s.err, s.since = "", time.Time{}
	}
	if s.config.Name() == "file" && s.err == "" && s.at.IsZero() && !s.began.IsZero() && now.Sub(s.began) > silence {
		s.at = now
	}
}

// found returns the labels of each object, and whether the source has answered.
func (s *source) found() (all []labels.Labels, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSilence()
	clean := func(value string) string { return value }
	if _, ok := s.config.(*http.SDConfig); ok { // only this server gets secrets
		clean = redact.Text
	}
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		g := s.groups[name]
		for _, t := range g.Targets {
			b := labels.NewScratchBuilder(len(t) + len(g.Labels))
			for k, v := range g.Labels {
				if _, own := t[k]; !own {
					b.Add(clean(string(k)), clean(string(v)))
				}
			}
			for k, v := range t {
				b.Add(clean(string(k)), clean(string(v)))
			}
			b.Sort()
			all = append(all, b.Labels())
		}
	}
	return all, !s.at.IsZero()
}

// standing returns the time of the last answer (zero for never), the current error and its
// beginning.
func (s *source) standing() (at time.Time, failure string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSilence()
	if s.final {
		return time.Now(), s.err, s.since
	}
	return s.at, s.err, s.since
}

// fail records an error, and reports whether it differs from the last one.
func (s *source) fail(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSilence()
	s.failed = time.Now()
	if s.err == "" {
		s.since = s.failed
	}
	isNew := s.err != text
	s.err = text
	return isNew
}

// urlQuery matches the query of a URL, which may contain a key.
var urlQuery = regexp.MustCompile(`\?[^\s"]+`)

// listener is the log handler of a discoverer, which reports its failures only in the log. It
// records each failure and passes on new ones.
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
		parts := []string{r.Message}
		r.Attrs(func(a slog.Attr) bool {
			parts = append(parts, a.Value.String())
			return true
		})
		l.source.rememberSecrets()
		text := redact.Text(urlQuery.ReplaceAllString(strings.Join(parts, ": "), "?…"))
		if !l.source.fail(text) {
			return nil
		}
		r = slog.NewRecord(r.Time, r.Level, text, r.PC)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}
