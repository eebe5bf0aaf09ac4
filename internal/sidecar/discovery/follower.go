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
	// quiet is how long nothing may change before a change is taken over, and
	// patience how long it is waited for that.
	quiet    = time.Second
	patience = 5 * time.Second
)

// Options are what a Follower needs.
type Options struct {
	// Changed is told, from the goroutine of Run, that Found differs: again after a
	// while, if it could not take that over.
	Changed func() error
	Logger  *slog.Logger
}

// Follower follows groups. What a source found stays until it says otherwise: one
// that fails changes nothing. Use New.
type Follower struct {
	options Options
	wake    chan struct{} // the groups are others
	dirty   chan struct{} // what was found is another

	mu       sync.Mutex
	groups   map[string]*followed
	recalled map[string][]Target // of groups that nobody has followed yet
}

// followed is one group.
type followed struct {
	group   Group
	sources []*source
	leases  map[string]*lease
	// kept is what counts, found and left what it makes.
	kept     []labels.Labels
	recalled []Target // in place of kept, until all sources have answered
	found    []Target
	left     []LeftOut
	answered bool      // all sources have, once
	replaced bool      // kept is of other sources than those that are asked now
	born     time.Time // when the group was first there
	few      string    // says that the last answer had too few targets
	lacking  time.Time // since when they are; zero while they are not
	named    map[LeftOut]bool
}

// New returns a Follower of nothing.
func New(o Options) *Follower {
	return &Follower{options: o, wake: make(chan struct{}, 1), dirty: make(chan struct{}, 1), groups: map[string]*followed{}}
}

// Follow says which groups there are from now on. What was found of one stays known
// until its sources, if they are others now, have answered.
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
	poke(f.wake)
	poke(f.dirty)
}

// stop ends the sources of a group; they are waited for by Run.
func (one *followed) stop() {
	for _, s := range one.sources {
		s.cancel()
	}
}

func (f *Follower) changed() { poke(f.dirty) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it looks anyway
	}
}

// Found has the targets of each of the groups, as they are written now.
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

// Awaits reports whether a target GROUP/NAME may come with the first answer of GROUP.
func (f *Follower) Awaits(derived string) bool {
	name, _, _ := strings.Cut(derived, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.groups[name]
	return one != nil && (!one.answered || time.Since(one.born) < one.group.Lease)
}

// Run follows until ctx is done, and waits for what it started.
func (f *Follower) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer f.stopAll()
	var refused <-chan time.Time      // when a change that was not taken over is told again
	silent := time.NewTicker(silence) // says something, too
	defer silent.Stop()
	for {
		f.start(ctx, &running)
		expiry, stop := f.nextExpiry(time.Now())
		changed := false
		select {
		case <-ctx.Done():
			stop()
			return nil
		case <-f.wake:
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

// start runs the sources that do not run yet.
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

// calm waits until nothing changes any more, but not for ever.
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

// settle takes over what the sources say now, and reports whether the targets are
// others than before.
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

// settle takes over what the sources of a group say.
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

// mostNamed bounds what of a group is named in the log at a time.
const mostNamed = 1000

// tell names what is left out, once for as long as it is.
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
