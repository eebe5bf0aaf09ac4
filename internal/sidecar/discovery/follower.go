package discovery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
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

// Follower follows groups of targets. A source that fails changes nothing: its targets stay
// until it answers again. Use New.
type Follower struct {
	logger        *slog.Logger
	groupsChanged chan struct{} // the set of groups has changed
	dirty         chan struct{} // the targets of a group may have changed
	// onlyFailed reports whether turns of a leased target at an address have failed and none has succeeded.
	onlyFailed func(target, base string) bool

	mu       sync.Mutex
	groups   map[string]*groupState
	recalled map[string][]Target // saved targets of groups that are not followed yet
}

type groupState struct {
	Group
	sources []*source
	leases  map[string]*lease
	// accepted are the discovered labels in force. found are the targets made of them, leftOut
	// the objects that are no targets.
	accepted []labels.Labels
	recalled []Target // replaces accepted until all sources have answered
	found    []Target
	leftOut  []LeftOut
	answered bool      // all sources have answered once
	replaced bool      // the sources have changed since accepted was set
	created  time.Time // when the group was added
	tooFew   string    // error text if the last answer had too few targets
	fewSince time.Time // since when there are too few targets; zero if there are enough
	logged   map[LeftOut]bool
}

// New returns a Follower without groups. onlyFailed reports whether turns of a leased target at
// an address have failed and none has succeeded; nil if nothing is leased.
func New(logger *slog.Logger, onlyFailed func(target, base string) bool) *Follower {
	return &Follower{logger: logger, onlyFailed: onlyFailed, groupsChanged: make(chan struct{}, 1), dirty: make(chan struct{}, 1), groups: map[string]*groupState{}}
}

// Follow replaces the set of groups. A group keeps its targets until its new sources have
// answered once.
func (f *Follower) Follow(groups []Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[string]*groupState{}
	for _, g := range groups {
		state := f.state(g)
		if state.sources == nil || !state.sameSource(g) {
			state.stop()
			state.sources = newSources(g, func() { poke(f.dirty) })
			state.answered, state.replaced = false, len(state.accepted)+len(state.recalled) > 0
		}
		state.Group = g
		state.found, state.leftOut = state.current(g)
		next[g.Name()] = state
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

// state returns the state of a group, or the initial one of a new group.
func (f *Follower) state(g Group) *groupState {
	if state := f.groups[g.Name()]; state != nil {
		return state
	}
	state := &groupState{leases: map[string]*lease{}, created: time.Now()}
	if g.Lease == 0 {
		state.recalled = f.recalled[g.Name()]
	}
	return state
}

// stop ends the sources of a group. Run waits for them.
func (g *groupState) stop() {
	for _, s := range g.sources {
		s.cancel()
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // Run has not yet handled the last one
	}
}

// Found returns the targets of each group, made with the given settings.
func (f *Follower) Found(groups []Group) map[string][]Target {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]Target{}
	for _, g := range groups {
		out[g.Name()], _ = f.state(g).current(g)
	}
	return out
}

// current makes targets of the labels in force with the settings of updated. Recalled targets
// remain if updated still allows them.
func (g *groupState) current(updated Group) ([]Target, []LeftOut) {
	if g.recalled == nil {
		return updated.resolve(g.accepted)
	}
	var out []Target
	for _, t := range g.recalled {
		base, err := updated.Address.Base(t.BaseURL)
		if err == nil && base == t.BaseURL && updated.allows(base) && len(out) < updated.Most {
			out = append(out, t)
		}
	}
	return out, nil
}

// Recall sets the targets that an earlier process had found, by group. They are used until all
// sources of a group have answered. Call it before the first Follow.
func (f *Follower) Recall(found map[string][]Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recalled = found
}

// Remember returns what Recall takes in a later process: names, addresses and labels, and no
// keys.
func (f *Follower) Remember() map[string][]Target {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]Target{}
	for name, g := range f.groups {
		if g.Lease == 0 && len(g.found) > 0 {
			out[name] = g.found
		}
	}
	return out
}

// Awaits reports whether the target GROUP/NAME may come with the first answer of GROUP.
func (f *Follower) Awaits(target string) bool {
	name, _, _ := strings.Cut(target, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[name]
	return g != nil && (!g.answered || time.Since(g.created) < g.Lease)
}

// Run follows the groups until ctx is done, and waits for its goroutines. It calls changed when
// Found has changed, and again later if changed fails.
func (f *Follower) Run(ctx context.Context, changed func() error) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer f.stopAll()
	var retry <-chan time.Time // time to call changed again after it failed
	minute := time.NewTicker(silence)
	defer minute.Stop()
	for {
		f.start(ctx, &running)
		callChanged := false
		select {
		case <-ctx.Done():
			return nil
		case <-f.groupsChanged:
		case <-retry:
			callChanged = true
		case <-minute.C: // leases may have ended, and silence of a source may mean success
			f.expire(time.Now())
			poke(f.dirty)
		case <-f.dirty:
			f.waitForQuiet(ctx)
			callChanged = f.update(time.Now())
		}
		if callChanged && ctx.Err() == nil {
			retry = nil
			if changed() != nil {
				retry = time.After(again)
			}
		}
	}
}

func (f *Follower) start(ctx context.Context, running *sync.WaitGroup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, g := range f.groups {
		for _, s := range g.sources {
			if s.started {
				continue
			}
			s.started = true
			logger := f.logger.With("group", name)
			running.Go(func() { s.run(ctx, logger) })
		}
	}
}

func (f *Follower) stopAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		g.stop()
	}
}

// waitForQuiet waits until nothing has changed for quiet, but not longer than patience.
func (f *Follower) waitForQuiet(ctx context.Context) {
	limit := time.After(patience)
	for {
		select {
		case <-f.dirty:
			continue
		case <-ctx.Done():
		case <-limit:
		case <-time.After(quiet):
		}
		return
	}
}

// update takes over the sources' answers, and reports whether targets have changed.
func (f *Follower) update(now time.Time) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, g := range f.groups {
		before := g.found
		g.update(now)
		g.logLeftOut(f.logger)
		if !reflect.DeepEqual(before, g.found) {
			changed = true
			f.logger.Info("The targets of a group have changed", "group", name, "found", len(g.found), "before", len(before), "left_out", len(g.leftOut))
		}
	}
	return changed
}

// update takes over the answers of the group's sources.
func (g *groupState) update(now time.Time) {
	all, complete := g.leased(), true
	for _, s := range g.sources {
		labels, answered := s.found()
		complete = complete && answered
		all = append(all, labels...)
	}
	if g.replaced && !complete {
		return
	}
	g.answered, g.replaced = complete, false
	found, leftOut := g.resolve(all)
	switch {
	case len(found) >= g.Least:
		g.tooFew, g.fewSince = "", time.Time{}
	case complete:
		g.tooFew = fmt.Sprintf("found %d targets, fewer than min_targets, %d", len(found), g.Least)
		if g.fewSince.IsZero() {
			g.fewSince = now
		}
	}
	if len(found) < g.Least && len(found) < len(g.found) {
		return
	}
	g.accepted, g.recalled, g.found, g.leftOut = all, nil, found, leftOut
}

// maxLogged bounds the objects of a group that the log names.
const maxLogged = 1000

// logLeftOut logs each object that is newly left out, and one line for all objects beyond max_targets.
func (g *groupState) logLeftOut(logger *slog.Logger) {
	logged, beyond := map[LeftOut]bool{}, 0
	for _, l := range g.leftOut[:min(len(g.leftOut), maxLogged)] {
		if l.Reason == TooMany {
			continue
		}
		if !g.logged[l] && !logged[l] {
			logger.Warn("A discovered object is no target", "group", g.Name(), "object", l.Object, "why", l.Detail)
		}
		logged[l] = true
	}
	for _, l := range g.leftOut {
		if l.Reason == TooMany {
			beyond++
		}
	}
	if key := (LeftOut{Reason: TooMany}); beyond > 0 {
		if !g.logged[key] {
			logger.Warn("A group has more targets than max_targets allows: raise it", "group", g.Name(), "max_targets", g.Most, "left_out", beyond)
		}
		logged[key] = true
	}
	g.logged = logged
}

// Standing is the state of a group.
type Standing struct {
	Name string
	// Found is the number of targets, LeftOut the numbers of other objects by reason.
	Found   int
	LeftOut map[string]int
	// At is the time of the last complete answer: the oldest of its sources; zero for never.
	At time.Time
	// Failing is the current error, "" without one, and Since its beginning.
	Failing string
	Since   time.Time
	// Leased is true for a group with leases.
	Leased bool
}

// Standings returns the state of each group, by name.
func (f *Follower) Standings() []Standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Standing
	for name, g := range f.groups {
		s := Standing{Name: name, Found: len(g.found), LeftOut: map[string]int{}, At: time.Now(), Failing: g.tooFew, Since: g.fewSince, Leased: g.Lease > 0}
		if g.tooFew != "" {
			s.At = g.fewSince
		}
		for _, l := range g.leftOut {
			s.LeftOut[l.Reason]++
		}
		for _, src := range g.sources {
			at, failure, since := src.standing()
			if at.Before(s.At) {
				s.At = at
			}
			if failure != "" && (s.Failing == "" || since.Before(s.Since)) {
				s.Failing, s.Since = failure, since
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Standing) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
