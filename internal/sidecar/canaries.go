package sidecar

import (
	"context"
	"errors"
	"io/fs"
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
)

// canaries sends the fixed prompts to one target after the other. A round costs a few hundred
// tokens, and nothing in it is timed.
type canaries struct {
	s *Sidecar

	mu      sync.Mutex
	wanted  []*watched
	changed chan struct{}
	last    map[string]answers.Reading
}

func newCanaries(s *Sidecar) *canaries {
	return &canaries{s: s, changed: make(chan struct{}, 1), last: map[string]answers.Reading{}}
}

// watched is a target with a recorded reference.
type watched struct {
	target   target.Target
	interval time.Duration
	watch    *answers.Watch
	due      time.Time
	// loggedError is the last error written to the log.
	loggedError string
	learned     probe.Learned
}

// same reports whether o sends the same prompts and compares the answers in the same way.
func (w *watched) same(o *watched) bool {
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
	known := c.wanted
	c.wanted = nil
	if cfg.Canary != nil {
		c.want(cfg, known)
	}
	for _, w := range known {
		if !slices.Contains(c.wanted, w) {
			delete(c.last, w.target.Name)
			c.s.recorder.CanaryOver(w.target.Name)
		}
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// want lists the targets that have a usable reference, and keeps the state of those that did
// not change. A reference that cannot be read is logged; its target is not compared.
func (c *canaries) want(cfg *config.Config, known []*watched) {
	for _, t := range cfg.Targets {
		if !slices.Contains(cfg.Canary.Targets, t.Name) {
			continue
		}
		ref, err := answers.Read(ReferenceFile(cfg.Canary, t.Name))
		if errors.Is(err, fs.ErrNotExist) {
			c.s.logger.Warn("A target has no reference, so that its answers are not compared: run synthetic canary record", "target", t.Name, "err", err)
			continue
		} else if err != nil {
			c.s.logger.Error("The reference of a target cannot be used, so that its answers are not compared", "target", t.Name, "err", err)
			continue
		} else if t.Model != "" && t.Model != ref.Model {
			c.s.logger.Error("The reference of a target is of another model, so that its answers are not compared: run synthetic canary record", "target", t.Name, "model", t.Model, "recorded", ref.Model)
			continue
		}
		w := &watched{target: t, interval: cfg.Canary.Interval, watch: answers.NewWatch(ref, cfg.Canary.Interval)}
		if i := slices.IndexFunc(known, w.same); i >= 0 {
			w = known[i]
		}
		c.wanted = append(c.wanted, w)
	}
}

// run sends rounds until ctx is done.
func (c *canaries) run(ctx context.Context) error {
	for {
		next, wait := c.next(time.Now())
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-c.changed:
			timer.Stop()
			continue
		case <-timer.C:
		}
		if next != nil {
			c.round(ctx, next)
		}
	}
}

// next returns the target that is due first, and the time until then.
func (c *canaries) next(now time.Time) (first *watched, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wanted {
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
func (c *canaries) round(ctx context.Context, w *watched) {
	w.due = time.Now().Add(w.interval)
	asked, err := ask(ctx, c.s.options.Dial, w)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	reading := c.last[w.target.Name]
	c.mu.Unlock()
	reading.At, reading.Err = time.Now(), err
	if err == nil {
		reading = w.watch.Take(asked.Round, reading.At)
	}
	reading.Tokens = asked.Tokens
	c.logError(w, reading)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.wanted, w) { // still
		c.s.recorder.CanaryRound(w.target.Name, reading)
		c.last[w.target.Name] = reading
	}
}

// reading returns the last reading of a target, for the page.
func (c *canaries) reading(target string) (answers.Reading, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.last[target]
	ok = ok && slices.ContainsFunc(c.wanted, func(w *watched) bool { return w.target.Name == target })
	return r, ok
}

func ask(ctx context.Context, dial func(ctx context.Context, network, addr string) (net.Conn, error), w *watched) (probe.Asked, error) {
	asker := probe.NewAsker(probe.Options{Target: w.target, Dial: dial, Learned: &w.learned})
	defer asker.Close()
	r := w.watch.Reference
	return asker.Round(ctx, r.Model, r.Prompts(), r.Tokens, false)
}

// logError logs the error of a round, unless it is the same as the last one.
func (c *canaries) logError(w *watched, r answers.Reading) {
	text := ""
	if r.Err != nil {
		text = r.Err.Error()
	}
	if text != w.loggedError && text != "" {
		c.s.logger.Warn("The canary's prompts were not answered, so that nothing was compared", "target", w.target.Name, "err", text)
	}
	w.loggedError = text
}
