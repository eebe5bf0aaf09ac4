package discovery

import (
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe/target"
)

// firstPause is the time between two questions until the first is answered.
const firstPause = 5 * time.Second

// Options are what a Follower needs.
type ModelOptions struct {
	// List asks a target what it serves.
	List func(context.Context, target.Target) ([]string, error)
	// Changed is told, from the goroutine of Run, that Listed differs.
	Changed func()
	Logger  *slog.Logger
}

// Follower asks targets for their models, again and again. A change counts once
// two answers in a row say the same, so that a replica that is behind does not end
// a job; a question that fails changes nothing.
type ModelFollower struct {
	options ModelOptions
	wake    chan struct{}

	mu   sync.Mutex
	sets map[string]*followedModels
}

// followed is one target.
type followedModels struct {
	set ModelSet
	due time.Time
	// listed is what counts, seen what the last answer said.
	listed, seen []string
	at           time.Time // of the last answer, zero before it
	failing      bool
}

// Listing is what is known of a target.
type Listing struct {
	// Target is the one that serves them.
	Target target.Target
	// Probed and LeftOut count models.
	Probed, LeftOut int
	// At is when the target last said what it serves; zero for never.
	At time.Time
}

// New returns a Follower of nothing.
func NewModelFollower(o ModelOptions) *ModelFollower {
	return &ModelFollower{options: o, wake: make(chan struct{}, 1), sets: map[string]*followedModels{}}
}

// Follow says which targets to ask from now on: at once, if anything about one
// changed. What a target listed stays known until it moves elsewhere.
func (f *ModelFollower) Follow(sets []ModelSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[string]*followedModels{}
	for _, s := range sets {
		if !s.Open() {
			continue
		}
		one := &followedModels{set: s}
		if old := f.sets[s.Target.Name]; old != nil && reflect.DeepEqual(old.set, s) {
			one = old
		} else if old != nil && old.set.Target.BaseURL == s.Target.BaseURL {
			one.listed, one.seen, one.at, one.failing = old.listed, old.seen, old.at, old.failing
		}
		next[s.Target.Name] = one
	}
	f.sets = next
	select {
	case f.wake <- struct{}{}:
	default: // it looks anyway
	}
}

// Listed has the models of each target that said what it serves.
func (f *ModelFollower) Listed() map[string][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]string{}
	for name, one := range f.sets {
		if !one.at.IsZero() {
			out[name] = one.listed
		}
	}
	return out
}

// Listings says how each target stands.
func (f *ModelFollower) Listings() map[string]Listing {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]Listing{}
	for name, one := range f.sets {
		models, left := one.set.Pick(one.listed)
		out[name] = Listing{Target: one.set.Target, Probed: len(models), LeftOut: left, At: one.at}
	}
	return out
}

// Awaits reports whether a target TARGET/MODEL may come with the first answer of
// TARGET.
func (f *ModelFollower) Awaits(derived string) bool {
	name, _, _ := strings.Cut(derived, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.sets[name]
	return one != nil && one.at.IsZero()
}

// Run asks until ctx is done.
func (f *ModelFollower) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		due, next := f.due(time.Now())
		if len(due) > 0 {
			if f.ask(ctx, due) && ctx.Err() == nil {
				f.options.Changed()
			}
			continue
		}
		var later <-chan time.Time
		if !next.IsZero() {
			later = time.After(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.wake:
		case <-later:
		}
	}
	return nil
}

// due are the targets to ask now, and when the next one is.
func (f *ModelFollower) due(now time.Time) (due []*followedModels, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range maps.Values(f.sets) {
		switch {
		case !one.due.After(now):
			due = append(due, one)
		case next.IsZero() || one.due.Before(next):
			next = one.due
		}
	}
	return due, next
}

// ask asks all of them at once, and reports whether anything changed.
func (f *ModelFollower) ask(ctx context.Context, due []*followedModels) (changed bool) {
	var asking sync.WaitGroup
	for _, one := range due {
		asking.Go(func() {
			models, err := f.options.List(ctx, one.set.Target)
			f.mu.Lock()
			defer f.mu.Unlock()
			if ctx.Err() == nil && f.take(one, models, err) {
				changed = true
			}
		})
	}
	asking.Wait()
	return changed
}

// take takes in an answer, and reports whether it changes anything. The caller
// holds mu.
func (f *ModelFollower) take(one *followedModels, models []string, err error) bool {
	now := time.Now()
	one.due = now.Add(one.set.Interval)
	if err != nil {
		if one.at.IsZero() {
			one.due = now.Add(min(firstPause, one.set.Interval))
		}
		if !one.failing {
			f.options.Logger.Warn("Cannot list the models of a target: those that are known stay", "target", one.set.Target.Name, "known_since", one.at, "err", err)
		}
		one.failing = true
		return false
	}
	if one.failing {
		f.options.Logger.Info("The models of a target can be listed again", "target", one.set.Target.Name)
	}
	slices.Sort(models)
	first := one.at.IsZero()
	settled := first || slices.Equal(models, one.seen)
	one.failing, one.at, one.seen = false, now, models
	if !settled || !first && slices.Equal(models, one.listed) {
		return false
	}
	one.listed = models
	chosen, left := one.set.Pick(models)
	f.options.Logger.Info("The models of a target are", "target", one.set.Target.Name, "probed", chosen, "listed", len(models))
	if left > 0 {
		f.options.Logger.Warn("Models of a target are not probed: raise max_models, or name the ones to probe", "target", one.set.Target.Name, "left_out", left, "max_models", one.set.Most)
	}
	return true
}
