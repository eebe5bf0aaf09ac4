package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
)

// Parse reads a run. It rejects data that are empty, truncated, not a run, or contradictory.
// Errors name the place and the remedy.
func Parse(data []byte) (*Run, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty: the sweep that wrote it did not finish; resume it or sweep again")
	}
	var run Run
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&run); err != nil {
		return nil, fmt.Errorf("%w; use the copy that the sweep finished, or sweep again", atomicfile.ExplainJSON(data, err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: data follow the end of the run; the file was written twice or edited", atomicfile.Position(data, dec.InputOffset()))
	}
	if err := run.Validate(); err != nil {
		return nil, err
	}
	return &run, nil
}

// Validate returns the first contradiction in the run, or nil.
func (r *Run) Validate() error {
	switch {
	case r.Format == 0:
		return fmt.Errorf(`"format" is missing: this is not a run of synthetic sweep`)
	case r.Format != Format:
		return fmt.Errorf(`"format" is %d, this program reads %d: use the synthetic that wrote it, or sweep again`, r.Format, Format)
	case r.LevelKind != Concurrency && r.LevelKind != Rate:
		return fmt.Errorf(`"level_kind" is %q: want %q or %q`, r.LevelKind, Concurrency, Rate)
	case len(r.Variants) == 0:
		return fmt.Errorf(`"variants" is empty: name at least one`)
	}
	for i, o := range r.SLOs {
		if !(o.Objective > 0 && o.Objective < 1) || o.Threshold < 0 || o.PerThousand < 0 {
			return fmt.Errorf("slos[%d] %q: a share of %g within %s, and %s for every 1,000 tokens: "+
				"want one between 0 and 1, and no negative times", i, o.Name, o.Objective, o.Threshold, o.PerThousand)
		}
	}
	seen := map[string]bool{}
	for i, result := range r.Results {
		name := fmt.Sprintf("(%s, level %g, repetition %d)", result.Variant, result.Level, result.Repetition)
		place := fmt.Sprintf("results[%d] %s", i, name)
		if seen[name] {
			return fmt.Errorf("%s: measured twice", place)
		}
		seen[name] = true
		if !slices.Contains(r.Variants, result.Variant) {
			return fmt.Errorf("%s: %q is not among the variants %q", place, result.Variant, r.Variants)
		}
		if err := result.validate(); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

func (r Result) validate() error {
	switch {
	case !(r.Level > 0 && r.Level <= mostLevel):
		return fmt.Errorf("a level of %g: it must be above 0, and at most %g", r.Level, mostLevel)
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
	if err := checkSeconds(s.Seconds); err != nil {
		return err
	}
	for i, b := range s.Blocks {
		if err := checkSeconds(b.Seconds); err != nil {
			return fmt.Errorf("blocks[%d]: %w", i, err)
		}
		for outcome := range b.Outcomes {
			if !slices.Contains(probe.Outcomes(), outcome) {
				return fmt.Errorf("blocks[%d]: unknown outcome %q", i, outcome)
			}
		}
	}
	return nil
}

// Bounds beyond any sweep, within which computed rates stay finite.
const (
	mostLevel                 = 1e9
	leastSeconds, mostSeconds = 1e-9, 1e10 // a nanosecond; 317 years
)

func checkSeconds(seconds float64) error {
	if seconds >= leastSeconds && seconds <= mostSeconds {
		return nil
	}
	return fmt.Errorf("%g seconds were measured: it must be more than 0, and at most %g", seconds, mostSeconds)
}

// Encode returns the run as indented JSON with a final newline.
func Encode(r *Run) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	return b.Bytes(), nil
}

// Write writes the run to path atomically.
func Write(path string, r *Run) error {
	data, err := Encode(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o644)
}
