package runfile

import (
	"fmt"
	"math"
	"slices"

	"synthetic/internal/probe"
)

// Validate returns the first contradiction in the run, or nil.
func (r *Run) Validate() error {
	switch {
	case r.Format == 0:
		return fmt.Errorf(`"format" is missing: this is no run of synthetic sweep`)
	case r.Format > Format:
		return fmt.Errorf(`"format" is %d, this program knows up to %d: use a newer synthetic`, r.Format, Format)
	case r.LevelKind != Concurrency && r.LevelKind != Rate:
		return fmt.Errorf(`"level_kind" is %q: want %q or %q`, r.LevelKind, Concurrency, Rate)
	case len(r.Variants) == 0:
		return fmt.Errorf(`"variants" is empty: name at least one`)
	}
	seen := map[string]bool{}
	for i, result := range r.Results {
		place := fmt.Sprintf("results[%d] (%s, level %g, repetition %d)", i, result.Variant, result.Level, result.Repetition)
		if seen[result.key()] {
			return fmt.Errorf("%s: measured twice", place)
		}
		seen[result.key()] = true
		if !slices.Contains(r.Variants, result.Variant) {
			return fmt.Errorf("%s: %q is not among the variants %q", place, result.Variant, r.Variants)
		}
		if err := result.validate(); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

// key identifies a result within its run.
func (r Result) key() string { return fmt.Sprintf("%s\x00%g\x00%d", r.Variant, r.Level, r.Repetition) }

func (r Result) validate() error {
	switch {
	case !(r.Level > 0) || math.IsInf(r.Level, 0):
		return fmt.Errorf("a level of %g: it must be above 0", r.Level)
	case r.Repetition < 1:
		return fmt.Errorf("repetitions count from 1")
	case !slices.Contains([]State{Complete, EndedEarly, Interrupted}, r.State):
		return fmt.Errorf("state %q: want %q, %q or %q", r.State, Complete, EndedEarly, Interrupted)
	case r.State == Complete && len(r.Snapshots) == 0:
		return fmt.Errorf("it is complete and has no snapshot")
	}
	for i, s := range r.Snapshots {
		if err := s.validate(); err != nil {
			return fmt.Errorf("snapshots[%d]: %w", i, err)
		}
	}
	return nil
}

func (s Snapshot) validate() error {
	if !(s.Seconds > 0) {
		return fmt.Errorf("%g seconds were measured: it must be more than 0", s.Seconds)
	}
	for i, b := range s.Blocks {
		if !(b.Seconds > 0) {
			return fmt.Errorf("blocks[%d]: %g seconds were measured: it must be more than 0", i, b.Seconds)
		}
		for outcome := range b.Outcomes {
			if !slices.Contains(probe.Outcomes(), outcome) {
				return fmt.Errorf("blocks[%d]: unknown outcome %q", i, outcome)
			}
		}
	}
	return nil
}
