package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

const (
	// A change takes effect when nothing has changed for quiet, but after patience at the
	// latest.
	quiet    = time.Second
	patience = 5 * time.Second
)

// Options configure a Follower.
type Options struct {
	// Changed is called in Run's goroutine when Found has changed. If it fails, Run calls it
	// again later.
	Changed func() error
	Logger  *slog.Logger
}

// Follower follows groups of targets. A source that fails changes nothing: its targets stay
// until it answers again. Use New.
type Follower struct {
	options       Options
	groupsChanged chan struct{} // the set of groups has changed
	dirty         chan struct{} // the targets of a group have changed

	mu       sync.Mutex
	groups   map[string]*followed
	recalled map[string][]Target // saved targets of groups that are not followed yet
}

// followed is the state of one group.
type followed struct {
	group   Group
	sources []*source
	leases  map[string]*lease
	// kept are the labels in force, found and left the targets and objects made of them.
	kept     []labels.Labels
	recalled []Target // replaces kept until all sources have answered
	found    []Target
	left     []LeftOut
	answered bool      // all sources have answered once
	replaced bool      // the sources have changed since kept was set
	born     time.Time // when the group was added
	few      string    // non-empty if the last answer had too few targets
	lacking  time.Time // since when there are too few targets; zero if there are enough
	named    map[LeftOut]bool
}

// New returns a Follower without groups.
func New(o Options) *Follower {
	return &Follower{options: o, groupsChanged: make(chan struct{}, 1), dirty: make(chan struct{}, 1), groups: map[string]*followed{}}
}

// Follow replaces the set of groups. A group keeps its targets until its new sources have
// answered once.
func (f *Follower) Follow(groups []Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[string]*followed{}
	for _, g := range groups {
		one := f.groups[g.Name()]
		if one == nil {
			one = f.begun(g)
		}
		if one.sources == nil || !one.group.sameSource(g) {
			one.stop()
			one.sources, one.answered, one.replaced = newSources(g, f.changed), false, len(one.kept)+len(one.recalled) > 0
		}
		one.group = g
		one.found, one.left = one.current(g)
		next[g.Name()] = one
	}
	for name, old := range f.groups {
		if next[name] == nil {
			old.stop()
		}
	}
	f.groups, f.recalled = next, nil
	poke(f.groupsChanged)
	poke(f.dirty)
}

// stop ends the sources of a group. Run waits for them.
func (one *followed) stop() {
	for _, s := range one.sources {
		s.cancel()
	}
}

func (f *Follower) changed() { poke(f.dirty) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // Run will look anyway
	}
}

// Found returns the targets of each group, built with its current settings.
func (f *Follower) Found(groups []Group) map[string][]Target {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]Target{}
	for _, g := range groups {
		one := f.groups[g.Name()]
		if one == nil {
			one = f.begun(g)
		}
		out[g.Name()], _ = one.current(g)
	}
	return out
}

// Awaits reports whether the target GROUP/NAME may come with the first answer of GROUP.
func (f *Follower) Awaits(derived string) bool {
	name, _, _ := strings.Cut(derived, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.groups[name]
	return one != nil && (!one.answered || time.Since(one.born) < one.group.Lease)
}

// Run follows the groups until ctx is done, and waits for its goroutines.
func (f *Follower) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer f.stopAll()
	var refused <-chan time.Time      // time to call Changed again after a rejection
	silent := time.NewTicker(silence) // a source that says nothing for this long has succeeded
	defer silent.Stop()
	for {
		f.start(ctx, &running)
		expiry, stop := f.nextExpiry(time.Now())
		changed := false
		select {
		case <-ctx.Done():
			stop()
			return nil
		case <-f.groupsChanged:
		case <-expiry:
			f.expire(time.Now())
		case <-refused:
			changed = true
		case <-silent.C:
			poke(f.dirty)
		case <-f.dirty:
			f.calm(ctx)
			changed = f.settle(time.Now())
		}
		stop()
		if changed && ctx.Err() == nil {
			refused = nil
			if f.options.Changed() != nil {
				refused = time.After(again)
			}
		}
	}
}

// start starts the sources that do not run yet.
func (f *Follower) start(ctx context.Context, running *sync.WaitGroup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.groups {
		for _, s := range one.sources {
			if s.started {
				continue
			}
			s.started = true
			logger := f.options.Logger.With("group", name)
			running.Go(func() { s.run(ctx, logger) })
		}
	}
}

func (f *Follower) stopAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.groups {
		one.stop()
	}
}

// calm waits until nothing changes any more, for a limited time.
func (f *Follower) calm(ctx context.Context) {
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		still := time.NewTimer(quiet)
		select {
		case <-f.dirty:
			still.Stop()
			continue
		case <-ctx.Done():
		case <-enough.C:
		case <-still.C:
		}
		still.Stop()
		return
	}
}

// settle takes over the sources' answers, and reports whether targets have changed.
func (f *Follower) settle(now time.Time) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.groups {
		before := one.found
		one.settle(now)
		one.tell(name, f.options.Logger)
		if !reflect.DeepEqual(before, one.found) {
			changed = true
			f.options.Logger.Info("The targets of a group are", "group", name, "found", len(one.found), "before", len(before), "left_out", len(one.left))
		}
	}
	return changed
}

// settle takes over the answers of the group's sources.
func (one *followed) settle(now time.Time) {
	all, complete := one.leased(), true
	for _, s := range one.sources {
		labels, answered := s.found()
		complete = complete && answered
		all = append(all, labels...)
	}
	if one.replaced && !complete {
		return
	}
	one.answered, one.replaced = complete, false
	found, left := one.group.resolve(all)
	switch {
	case len(found) >= one.group.Least:
		one.few, one.lacking = "", time.Time{}
	case complete:
		one.few = fmt.Sprintf("found %d targets, fewer than min_targets, %d", len(found), one.group.Least)
		if one.lacking.IsZero() {
			one.lacking = now
		}
	}
	if len(found) < one.group.Least && len(found) < len(one.found) {
		return
	}
	one.kept, one.recalled, one.found, one.left = all, nil, found, left
}

// mostNamed bounds the objects of a group that the log names at a time.
const mostNamed = 1000

// tell logs the objects that are left out, once for each.
func (one *followed) tell(group string, logger *slog.Logger) {
	named := map[LeftOut]bool{}
	for _, l := range one.left[:min(len(one.left), mostNamed)] {
		if !one.named[l] && !named[l] {
			logger.Warn("What was discovered is no target", "group", group, "object", l.Object, "why", l.Detail)
		}
		named[l] = true
	}
	one.named = named
}
