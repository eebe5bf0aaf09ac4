package sidecar

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/metrics"
)

// canaries sends fixed prompts to one target after the other, and compares the answers with a
// recorded reference. A round costs a few hundred tokens, and nothing in it is timed.
type canaries struct {
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	logger   *slog.Logger
	recorder *metrics.Recorder
	changed  chan struct{} // the set of canaries has changed

	mu     sync.Mutex
	active []*canary
	last   map[string]answers.Reading // by target
	// showTexts allows the page to show answers.
	showTexts bool
}

func newCanaries(dial func(ctx context.Context, network, addr string) (net.Conn, error), logger *slog.Logger, recorder *metrics.Recorder) *canaries {
	return &canaries{dial: dial, logger: logger, recorder: recorder, changed: make(chan struct{}, 1), last: map[string]answers.Reading{}}
}

// canary is a target with a recorded reference.
type canary struct {
	target      target.Target
	interval    time.Duration
	watch       *answers.Watch
	due         time.Time
	loggedError string // the last error in the log
	learned     probe.Learned
}

// equal reports whether o sends the same prompts and compares the answers in the same way.
func (w *canary) equal(o *canary) bool {
	return w.target.Equal(o.target) && w.interval == o.interval && reflect.DeepEqual(w.watch.Reference, o.watch.Reference)
}

// ReferenceFile returns the path of a target's reference.
func ReferenceFile(c *config.Canary, target string) string {
	return filepath.Join(c.Directory, target+".json")
}

// apply puts a configuration into force. Readings of targets without a reference are dropped.
func (c *canaries) apply(cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	previous := c.active
	c.active = nil
	if cfg.Canary != nil {
		c.showTexts = cfg.Canary.ShowTexts
		c.active = c.readReferences(cfg, previous)
	}
	for _, w := range previous {
		if !slices.Contains(c.active, w) {
			delete(c.last, w.target.Name)
			c.recorder.CanaryOver(w.target.Name)
		}
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// readReferences returns the targets that have a usable reference, and keeps the state of those
// that did not change. It logs a reference that cannot be used.
func (c *canaries) readReferences(cfg *config.Config, previous []*canary) (active []*canary) {
	for _, t := range cfg.Targets {
		if !slices.Contains(cfg.Canary.Targets, t.Name) {
			continue
		}
		ref, err := answers.Read(ReferenceFile(cfg.Canary, t.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.logger.Warn("A target has no reference, so its answers are not compared: run synthetic canary record", "target", t.Name, "err", err)
			continue
		case err != nil:
			c.logger.Error("The reference of a target cannot be used, so its answers are not compared", "target", t.Name, "err", err)
			continue
		case t.Model != "" && t.Model != ref.Model:
			c.logger.Error("The reference of a target was recorded with another model, so its answers are not compared: run synthetic canary record", "target", t.Name, "model", t.Model, "recorded", ref.Model)
			continue
		}
		w := &canary{target: t, interval: cfg.Canary.Interval, watch: answers.NewWatch(ref, cfg.Canary.Interval)}
		if i := slices.IndexFunc(previous, w.equal); i >= 0 {
			w = previous[i]
		}
		active = append(active, w)
	}
	return active
}

// run sends rounds until ctx is done.
func (c *canaries) run(ctx context.Context) error {
	for {
		next, wait := c.next(time.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-c.changed:
		case <-time.After(wait):
			if next != nil {
				c.round(ctx, next)
			}
		}
	}
}

func (c *canaries) next(now time.Time) (first *canary, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.active {
		if first == nil || w.due.Before(first.due) {
			first = w
		}
	}
	if first == nil {
		return nil, time.Hour
	}
	return first, max(0, first.due.Sub(now))
}

// round runs one comparison and publishes its reading.
func (c *canaries) round(ctx context.Context, w *canary) {
	w.due = time.Now().Add(w.interval)
	asker := probe.NewAsker(probe.Options{Target: w.target, Dial: c.dial, Learned: &w.learned, Sent: c.recorder.RequestsOf(w.target.Name)})
	defer asker.Close()
	reference := w.watch.Reference
	asked, err := asker.Round(ctx, reference.Model, reference.Prompts(), reference.Tokens, false)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	reading := c.last[w.target.Name]
	c.mu.Unlock()
	reading.At, reading.Err = time.Now(), err
	if err == nil {
		reading = w.watch.Compare(asked.Round, reading.At)
	}
	reading.Tokens = asked.Tokens
	c.logError(w, reading)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.active, w) { // no reload has removed it
		c.recorder.CanaryRound(w.target.Name, reading)
		c.last[w.target.Name] = reading
	}
}

// reading returns the last reading of a target, for the page.
func (c *canaries) reading(target string) (answers.Reading, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.last[target]
	ok = ok && slices.ContainsFunc(c.active, func(w *canary) bool { return w.target.Name == target })
	if !c.showTexts {
		r.Was, r.Is = "", ""
	}
	return r, ok
}

func (c *canaries) logError(w *canary, r answers.Reading) {
	text := ""
	if r.Err != nil {
		text = r.Err.Error()
	}
	if text != w.loggedError && text != "" {
		c.logger.Warn("The canary's prompts were not answered, so nothing was compared", "target", w.target.Name, "err", text)
	}
	w.loggedError = text
}
