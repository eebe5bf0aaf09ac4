package main

import (
	"fmt"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// one reads the only run.
func one(f *reportFlags) (*figures.Study, error) {
	if len(f.runs) != 1 {
		return nil, usagef("render takes one run, not %d: use compare to set them side by side, or average to pool them", len(f.runs))
	}
	return readStudy(f.runs[0])
}

func readStudy(arg string) (*figures.Study, error) {
	name, path := labelled(arg)
	s, err := figures.Read(path)
	if err != nil {
		return nil, usageError{err}
	}
	if name != "" {
		s.Name = name
	}
	return s, nil
}

// joined reads runs that are to be compared.
func joined(f *reportFlags) (*figures.Study, error) {
	var all []*figures.Study
	for _, arg := range f.runs {
		s, err := readStudy(arg)
		if err != nil {
			return nil, err
		}
		if len(f.slos) > 0 {
			s.Objectives = nil // replaced for all of them
		}
		all = append(all, s)
	}
	for _, s := range all[1:] {
		if d := figures.Difference(all[0], s); d != "" {
			if !f.force {
				return nil, usagef("these runs cannot be compared: %s; measure both with one plan, or compare anyway with --force", d)
			}
			s.Warnings = append(s.Warnings, "Compared with --force although "+d+".")
		}
	}
	return figures.Join(all), nil
}

// averaged reads runs that are to be pooled. Reports without distributions
// cannot be: an average of quantiles is no quantile.
func averaged(f *reportFlags) (*figures.Study, error) {
	var runs []*runfile.Run
	var first *figures.Study
	for _, arg := range f.runs {
		_, path := labelled(arg)
		run, other, err := figures.ReadEither(path)
		if err != nil {
			return nil, usageError{err}
		}
		if other != nil {
			return nil, usagef("%s: a report has quantiles only, and an average of quantiles is no quantile: average takes the run.json of sweeps", path)
		}
		s := figures.FromRuns([]*runfile.Run{run})
		s.File = path
		if first == nil {
			first = s
		} else if d := figures.RunDifference(first, s); d != "" {
			return nil, usagef("these runs cannot be pooled: %s; average repetitions of one plan, and compare others", d)
		}
		runs = append(runs, run)
	}
	s := figures.FromRuns(runs)
	s.Title = fmt.Sprintf("%s (%d runs)", s.Title, len(runs))
	return s, nil
}
