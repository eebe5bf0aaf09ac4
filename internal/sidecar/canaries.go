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

// canaries ask the targets their fixed prompts, one target after the other: a
// round is some hundred tokens, and nothing about it is timed.
type canaries struct {
	s *Sidecar

	mu      sync.Mutex
	wanted  []*watched
	changed chan struct{}
	last    map[string]answers.Reading
	// showTexts says that the page may have what was answered.
	showTexts bool
}

func newCanaries(s *Sidecar) *canaries {
	return &canaries{s: s, changed: make(chan struct{}, 1), last: map[string]answers.Reading{}}
}

// watched is a target with a reference.
type watched struct {
	target   target.Target
	interval time.Duration
	watch    *answers.Watch
	due      time.Time
	// told is the last error that the log has.
	told string
	// learned is of the rounds before.
	learned probe.Learned
}

// same reports whether another one asks the same, and compares it alike.
func (w *watched) same(o *watched) bool {
	return w.target.Equal(o.target) && w.interval == o.interval && reflect.DeepEqual(w.watch.Reference, o.watch.Reference)
}

// ReferenceFile is where the reference of a target is.
func ReferenceFile(c *config.Canary, target string) string {
	return filepath.Join(c.Directory, target+".json")
}

// apply takes over a configuration. What is known of a target goes with its
// reference.
func (c *canaries) apply(cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.wanted
	c.wanted = nil
	if cfg.Canary != nil {
		c.showTexts = cfg.Canary.ShowTexts
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

// want lists the targets that have a reference, those that did not change as they
// are known. One whose reference cannot be read is not compared, which the log
// says: all else goes on.
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

// run asks until ctx is done.
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

// next is the target that is due first, and in how long.
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

// round asks one target and tells what came of it.
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
	c.tell(w, reading)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.wanted, w) { // still
		c.s.recorder.CanaryRound(w.target.Name, reading)
		c.last[w.target.Name] = reading
	}
}

// reading is what is known of a target, for the page.
func (c *canaries) reading(target string) (answers.Reading, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.last[target]
	ok = ok && slices.ContainsFunc(c.wanted, func(w *watched) bool { return w.target.Name == target })
	if !c.showTexts {
		r.Was, r.Is = "", ""
	}
	return r, ok
}

func ask(ctx context.Context, dial func(ctx context.Context, network, addr string) (net.Conn, error), w *watched) (probe.Asked, error) {
	asker := probe.NewAsker(probe.Options{Target: w.target, Dial: dial, Learned: &w.learned})
	defer asker.Close()
	r := w.watch.Reference
	return asker.Round(ctx, r.Model, r.Prompts(), r.Tokens, false)
}

// tell logs an error when it is a new one.
func (c *canaries) tell(w *watched, r answers.Reading) {
	text := ""
	if r.Err != nil {
		text = r.Err.Error()
	}
	if text != w.told && text != "" {
		c.s.logger.Warn("The canary's prompts were not answered, so that nothing was compared", "target", w.target.Name, "err", text)
	}
	w.told = text
}
