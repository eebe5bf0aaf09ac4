package discovery

import (
	"context"
	"log/slog"
	"maps"
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
	list        ListModels
	setsChanged chan struct{}

	mu   sync.Mutex
	sets map[string]*modelState // by target
}

type modelState struct {
	ModelSet
	due time.Time
	// listed are the models in force, lastAnswer the models of the last answer.
	listed, lastAnswer []string
	// missing says since which answer a model that was probed is not listed.
	missing  map[string]time.Time
	at       time.Time // of the last answer, zero before it
	requests uint64
	failing  bool
}

// goneKept is how long a model counts as gone. A model that was removed on purpose must not count
// for ever.
const goneKept = time.Hour

// noteMissing updates missing after an answer. Named models are not in it: they are still
// probed, so their turns fail.
func (s *modelState) noteMissing(answer []string, now time.Time) {
	listedBefore := slices.Concat(s.listed, s.lastAnswer) // one answer of an outdated replica ends nothing
	for m, since := range s.missing {
		if slices.Contains(answer, m) && slices.Contains(listedBefore, m) || now.Sub(since) >= goneKept {
			delete(s.missing, m)
		}
	}
	probed, _ := s.Pick(s.listed)
	for _, m := range probed {
		_, known := s.missing[m]
		if !known && len(s.missing) < s.Most && !slices.Contains(answer, m) && !slices.Contains(s.Patterns, m) {
			s.missing[m] = now
		}
	}
}

// gone returns the missing models that two answers lacked.
func (s *modelState) gone(now time.Time) map[string]time.Time {
	gone := maps.Clone(s.missing)
	maps.DeleteFunc(gone, func(m string, since time.Time) bool {
		return slices.Contains(s.listed, m) || now.Sub(since) >= goneKept
	})
	return gone
}

// Listing describes the models of a target.
type Listing struct {
	// Target serves the models.
	Target target.Target
	// Probed and LeftOut are numbers of models.
	Probed, LeftOut int
	// At is the time of the last answer; zero for never.
	At time.Time
	// Requests counts the requests for the list that were sent.
	Requests uint64
	// Gone are models that were probed and that two answers lacked, with the time of the first of
	// these. They are forgotten after an hour.
	Gone map[string]time.Time
}

// ListModels asks a target for its models. It calls sent for each request that was sent.
type ListModels func(ctx context.Context, t target.Target, sent func()) ([]string, error)

// NewModelFollower returns a ModelFollower without targets.
func NewModelFollower(logger *slog.Logger, list ListModels) *ModelFollower {
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
		state := &modelState{ModelSet: s, missing: map[string]time.Time{}}
		if old := f.sets[s.Target.Name]; old != nil && reflect.DeepEqual(old.ModelSet, s) {
			state = old
		} else if old != nil && old.Target.BaseURL == s.Target.BaseURL {
			state.listed, state.lastAnswer, state.at, state.failing, state.requests = old.listed, old.lastAnswer, old.at, old.failing, old.requests
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
		out[name] = Listing{Target: s.Target, Probed: len(models), LeftOut: left, At: s.at, Requests: s.requests, Gone: s.gone(time.Now())}
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
			sent := uint64(0)
			models, err := f.list(ctx, s.Target, func() { sent++ })
			f.mu.Lock()
			defer f.mu.Unlock()
			s.requests += sent
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
	s.noteMissing(models, now)
	settled := first || slices.Equal(models, s.lastAnswer)
	s.failing, s.at, s.lastAnswer = false, now, models
	if !settled || !first && slices.Equal(models, s.listed) {
		return false
	}
	s.listed = models
	probed, left := s.Pick(models)
	if gone := s.gone(now); len(gone) > 0 {
		f.logger.Warn("A target no longer lists models that were probed: load them again, or change the configuration", "target", name, "models", slices.Sorted(maps.Keys(gone)))
	}
	f.logger.Info("The models of a target have changed", "target", name, "probed", probed, "listed", len(models))
	if left > 0 {
		f.logger.Warn("Models of a target are not probed: raise max_models, or name the ones to probe", "target", name, "left_out", left, "max_models", s.Most)
	}
	return true
}
