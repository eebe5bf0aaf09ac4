package discovery

import (
	"context"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe/target"
)

// ModelSet selects the models of a target to probe.
type ModelSet struct {
	Target target.Target
	// Patterns are names in which * matches any text; nil selects every model.
	Patterns []string
	// Most is the largest number of models to probe.
	Most int
	// Interval is the time between two requests.
	Interval time.Duration
}

// Open reports whether the selection depends on the target's answer.
func (s ModelSet) Open() bool { return s.Patterns == nil || slices.ContainsFunc(s.Patterns, isPattern) }

func isPattern(p string) bool { return strings.Contains(p, "*") }

// Pick returns the models to probe and the number of those left out. Named models come first,
// listed or not, then matching ones in alphabetical order, so that replicas agree.
func (s ModelSet) Pick(listed []string) (models []string, left int) {
	var matching []string
	for _, p := range s.Patterns {
		if !isPattern(p) {
			models = append(models, p)
		}
	}
	for _, m := range listed {
		if !slices.Contains(models, m) && s.matches(m) {
			matching = append(matching, m)
		}
	}
	slices.Sort(models)
	slices.Sort(matching)
	models = append(models, slices.Compact(matching)...)
	n := min(s.Most, len(models))
	return models[:n:n], len(models) - n
}

func (s ModelSet) matches(model string) bool {
	return s.Patterns == nil || slices.ContainsFunc(s.Patterns, func(p string) bool {
		expr := strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*")
		return regexp.MustCompile("^(?s:" + expr + ")$").MatchString(model)
	})
}

// firstPause is the time between requests until the first one succeeds.
const firstPause = 5 * time.Second

// ModelFollower asks targets for their models regularly. A change counts after two equal
// consecutive answers, so that an outdated replica does not end a job. A failed request changes
// nothing.
type ModelFollower struct {
	logger      *slog.Logger
	list        func(context.Context, target.Target) ([]string, error)
	setsChanged chan struct{}

	mu   sync.Mutex
	sets map[string]*modelState // by target
}

type modelState struct {
	ModelSet
	due time.Time
	// listed are the models in force, lastAnswer the models of the last answer.
	listed, lastAnswer []string
	at                 time.Time // of the last answer, zero before it
	failing            bool
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

// NewModelFollower returns a ModelFollower without targets. list asks a target for its models.
func NewModelFollower(logger *slog.Logger, list func(context.Context, target.Target) ([]string, error)) *ModelFollower {
	return &ModelFollower{logger: logger, list: list, setsChanged: make(chan struct{}, 1), sets: map[string]*modelState{}}
}

// Follow replaces the set of targets, and asks a new or changed target at once. A target's
// models stay known until its address changes.
func (f *ModelFollower) Follow(sets []ModelSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[string]*modelState{}
	for _, s := range sets {
		if !s.Open() {
			continue
		}
		state := &modelState{ModelSet: s}
		if old := f.sets[s.Target.Name]; old != nil && reflect.DeepEqual(old.ModelSet, s) {
			state = old
		} else if old != nil && old.Target.BaseURL == s.Target.BaseURL {
			state.listed, state.lastAnswer, state.at, state.failing = old.listed, old.lastAnswer, old.at, old.failing
		}
		next[s.Target.Name] = state
	}
	f.sets = next
	poke(f.setsChanged)
}

// Listed returns the models of each target that has answered.
func (f *ModelFollower) Listed() map[string][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]string{}
	for name, s := range f.sets {
		if !s.at.IsZero() {
			out[name] = s.listed
		}
	}
	return out
}

// Listings returns the listing of each target.
func (f *ModelFollower) Listings() map[string]Listing {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]Listing{}
	for name, s := range f.sets {
		models, left := s.Pick(s.listed)
		out[name] = Listing{Target: s.Target, Probed: len(models), LeftOut: left, At: s.at}
	}
	return out
}

// Awaits reports whether the target TARGET/MODEL may come with the first answer of TARGET.
func (f *ModelFollower) Awaits(target string) bool {
	name, _, _ := strings.Cut(target, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sets[name]
	return s != nil && s.at.IsZero()
}

// Run asks for models until ctx is done. It calls changed when Listed has changed.
func (f *ModelFollower) Run(ctx context.Context, changed func() error) error {
	for ctx.Err() == nil {
		due, next := f.due(time.Now())
		if len(due) > 0 {
			if f.askAll(ctx, due) && ctx.Err() == nil {
				_ = changed() // which logs its error
			}
			continue
		}
		var wait <-chan time.Time
		if !next.IsZero() {
			wait = time.After(time.Until(next))
		}
		select {
		case <-ctx.Done():
		case <-f.setsChanged:
		case <-wait:
		}
	}
	return nil
}

// due returns the targets to ask now, and the time of the next one.
func (f *ModelFollower) due(now time.Time) (due []*modelState, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sets {
		switch {
		case !s.due.After(now):
			due = append(due, s)
		case next.IsZero() || s.due.Before(next):
			next = s.due
		}
	}
	return due, next
}

// askAll asks all targets concurrently, and reports whether anything changed.
func (f *ModelFollower) askAll(ctx context.Context, due []*modelState) (changed bool) {
	var asking sync.WaitGroup
	for _, s := range due {
		asking.Go(func() {
			models, err := f.list(ctx, s.Target)
			f.mu.Lock()
			defer f.mu.Unlock()
			if ctx.Err() == nil && f.record(s, models, err) {
				changed = true
			}
		})
	}
	asking.Wait()
	return changed
}

// record records an answer, and reports whether it changes the models. The caller holds mu.
func (f *ModelFollower) record(s *modelState, models []string, err error) bool {
	now, name := time.Now(), s.Target.Name
	s.due = now.Add(s.Interval)
	if err != nil {
		if s.at.IsZero() {
			s.due = now.Add(min(firstPause, s.Interval))
		}
		if !s.failing {
			f.logger.Warn("Cannot list the models of a target: those that are known stay", "target", name, "known_since", s.at, "err", err)
		}
		s.failing = true
		return false
	}
	if s.failing {
		f.logger.Info("The models of a target can be listed again", "target", name)
	}
	slices.Sort(models)
	first := s.at.IsZero()
	settled := first || slices.Equal(models, s.lastAnswer)
	s.failing, s.at, s.lastAnswer = false, now, models
	if !settled || !first && slices.Equal(models, s.listed) {
		return false
	}
	s.listed = models
	probed, left := s.Pick(models)
	f.logger.Info("The models of a target have changed", "target", name, "probed", probed, "listed", len(models))
	if left > 0 {
		f.logger.Warn("Models of a target are not probed: raise max_models, or name the ones to probe", "target", name, "left_out", left, "max_models", s.Most)
	}
	return true
}
