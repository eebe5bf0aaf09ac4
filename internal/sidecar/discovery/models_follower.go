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

// firstPause is the time between requests until the first one succeeds.
const firstPause = 5 * time.Second

// ModelOptions configure a ModelFollower.
type ModelOptions struct {
	// List asks a target for its models.
	List func(context.Context, target.Target) ([]string, error)
	// Changed is called in Run's goroutine when Listed has changed.
	Changed func()
	Logger  *slog.Logger
}

// ModelFollower asks targets for their models regularly. A change counts after two equal
// consecutive answers, so that an outdated replica does not end a job. A failed request changes
// nothing.
type ModelFollower struct {
	options       ModelOptions
	groupsChanged chan struct{}

	mu   sync.Mutex
	sets map[string]*followedModels
}

// followedModels is the state of one target.
type followedModels struct {
	set ModelSet
	due time.Time
	// listed are the models in force, seen those of the last answer.
	listed, seen []string
	at           time.Time // of the last answer, zero before it
	failing      bool
}

// Listing describes the models of a target.
type Listing struct {
	// Target serves the models.
	Target target.Target
	// Probed and LeftOut are numbers of models.
	Probed, LeftOut int
	// At is the time of the last answer; zero for never.
	At time.Time
}

// NewModelFollower returns a ModelFollower without targets.
func NewModelFollower(o ModelOptions) *ModelFollower {
	return &ModelFollower{options: o, groupsChanged: make(chan struct{}, 1), sets: map[string]*followedModels{}}
}

// Follow replaces the set of targets, and asks a new or changed target at once. A target's
// models stay known until its address changes.
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
	case f.groupsChanged <- struct{}{}:
	default: // Run will look anyway
	}
}

// Listed returns the models of each target that has answered.
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

// Listings returns the listing of each target.
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

// Awaits reports whether the target TARGET/MODEL may come with the first answer of TARGET.
func (f *ModelFollower) Awaits(derived string) bool {
	name, _, _ := strings.Cut(derived, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.sets[name]
	return one != nil && one.at.IsZero()
}

// Run asks for models until ctx is done.
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
		case <-f.groupsChanged:
		case <-later:
		}
	}
	return nil
}

// due returns the targets to ask now, and the time of the next one.
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

// ask asks all targets concurrently, and reports whether anything changed.
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

// take records an answer, and reports whether it changes anything. The caller holds mu.
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
