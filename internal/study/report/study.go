package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// Study is one or several configurations measured at the same levels. The fields with a name in JSON are in the data of
// its report as they are.
type Study struct {
	Source    `json:"-"`
	Title     string    `json:"title"`
	Generated time.Time `json:"-"`                  // zero if the file does not give it
	Metric    string    `json:"metric,omitempty"`   // the source of the latencies
	Compared  bool      `json:"compared,omitempty"` // the series come from different studies (see Join)
	Setup
	Kind       runs.LevelKind  `json:"level_kind"`
	TargetRPS  *float64        `json:"target_rps"`
	Objectives []slo.Objective `json:"-"`
	Series     []Series        `json:"-"` // in printed order; the first is the baseline
	// Interrupted says why a sweep did not finish, so that levels may be missing; "" if it finished or this is unknown.
	Interrupted string   `json:"interrupted,omitempty"`
	Notes       []string `json:"notes,omitempty"` // how the figures were obtained
	Warnings    []string `json:"-"`
}

// Source is where a study was read.
type Source struct {
	Name, File string    // Name labels the study, File is its path
	Run        *runs.Run // the parsed run, nil for a report
}

// Setup describes what was measured, and how.
type Setup struct {
	Method     []runs.Parameter `json:"method"`
	Deployment []runs.Parameter `json:"deployment"`
	Workload   []runs.Parameter `json:"workload"` // decides whether studies can be compared; nil if unknown
}

// Series is one configuration.
type Series struct {
	Name   string
	Levels []Level // in rising order
}

// Level is one level of one configuration. The fields with a name in JSON are in the data of a report as they are.
type Level struct {
	At      float64           `json:"-"` // the number of conversations in flight or of starts per second
	Figures map[Metric]Figure `json:"-"`
	Errors  map[string]uint64 `json:"errors,omitempty"` // counts failed turns by outcome; nil if unknown
	// Runs counts measurements, Valid those with few enough errors to represent the latencies; 0 if unknown.
	Runs  int    `json:"runs,omitempty"`
	Valid int    `json:"valid_runs,omitempty"`
	Notes string `json:"notes,omitempty"` // says which runs were left out, and why
	// GivenUp is set if the sweep gave up the level: the queue grew, the target failed, or an
	// objective could no longer be met.
	GivenUp bool `json:"given_up,omitempty"`
	// NotReached says why the level did not carry its load and what helps; "" if it did.
	// Nothing is concluded from such a level.
	NotReached string              `json:"not_reached,omitempty"`
	Verdict    *runs.LevelVerdict  `json:"-"` // what counted turns prove about the objectives; nil if none were counted
	Warnings   []string            `json:"-"`
	Sessions   probe.SessionCounts `json:"sessions,omitzero"` // follow-up turns whose worker is known
	Recall     *runs.Recalled      `json:"recall,omitempty"`  // nil if no answer was judged by reference codes
	Server     []ServerFigure      `json:"-"`
}

// ServerFigure is a figure that the deployment reported, averaged over snapshots.
type ServerFigure struct {
	Source, Name string
	Value        float64
}

// Figure is a number and its uncertainty.
type Figure struct {
	Value float64 // NaN if unknown and +∞ if it lies among failures
	// Low and High are the ends of the 95 % interval; NaN if unknown.
	Low, High float64
	N         uint64 // the number of turns; 0 if unknown
	Quantile  bool   // set for a measured quantile, which should have an interval
}

// Plain returns a figure without an interval.
func Plain(v float64) Figure { return Figure{Value: v, Low: math.NaN(), High: math.NaN()} }

func unknown() Figure { return Plain(math.NaN()) }

// times returns the figure in another unit.
func (f Figure) times(factor float64) Figure {
	f.Value, f.Low, f.High = factor*f.Value, factor*f.Low, factor*f.High
	return f
}

// Known reports whether the value can be used.
func (f Figure) Known() bool { return !math.IsNaN(f.Value) }

func (f Figure) Ranged() bool { return f.Known() && !math.IsNaN(f.Low) && !math.IsNaN(f.High) }

// Uncertain reports whether a measured quantile lacks an end of its interval, because it has too few turns, or turns that
// are too much alike.
func (f Figure) Uncertain() bool { return f.Known() && f.Quantile && !f.Ranged() }

// Figure returns a figure, or Unknown.
func (l Level) Figure(m Metric) Figure {
	if f, ok := l.Figures[m]; ok {
		return f
	}
	return unknown()
}

// Value returns the value of a known figure, otherwise NaN.
func (l Level) Value(m Metric) float64 { return l.Figure(m).Value }

// describe gives a study without a title one of its variants and levels, and a report without a method what its
// data tells.
func (s *Study) describe() {
	names, levels := make([]string, len(s.Series)), s.Levels()
	for i, series := range s.Series {
		names[len(names)-1-i] = series.Name // the baseline is last
	}
	if len(levels) == 0 {
		return
	}
	if s.Title == "" {
		ends := slices.Compact([]float64{levels[0], levels[len(levels)-1]})
		s.Title = fmt.Sprintf("Benchmark Sweep: %s %s Scaling (%s)", strings.Join(names, " vs "), levelTitle(s), runs.FormatLevels(ends, "-"))
	}
	if s.Method != nil {
		return
	}
	slices.Reverse(names)
	row := func(name, value string) {
		if value != "" {
			s.Method = append(s.Method, runs.Parameter{Name: name, Value: value})
		}
	}
	row("Variants", strings.Join(names, ", "))
	row("Levels", s.LevelName()+" "+runs.FormatLevels(levels, ", "))
	if s.TargetRPS != nil {
		row("Target RPS", fmt.Sprintf("%.1f", *s.TargetRPS))
	}
	row("Metric source", s.Metric)
}

// Level returns the level at a value, and false if it was not measured.
func (s Series) Level(at float64) (Level, bool) {
	i := slices.IndexFunc(s.Levels, func(l Level) bool { return l.At == at })
	if i < 0 {
		return Level{}, false
	}
	return s.Levels[i], true
}

func (s Series) Any(holds func(Level) bool) bool { return slices.ContainsFunc(s.Levels, holds) }

// Any reports whether a level of a series satisfies holds.
func (s *Study) Any(holds func(Level) bool) bool {
	return slices.ContainsFunc(s.Series, func(x Series) bool { return x.Any(holds) })
}

func (l Level) Has(m Metric) bool { return l.Figure(m).Known() }

func (s *Study) Has(m Metric) bool { return s.Any(func(l Level) bool { return l.Has(m) }) }

// compares reports whether series are compared with the first one.
func (s *Study) compares() bool { return len(s.Series) > 1 }

func (s *Study) seriesIndex(name string) int {
	return slices.IndexFunc(s.Series, func(x Series) bool { return x.Name == name })
}

// LevelKind returns the unit of the levels.
func (s *Study) LevelKind() runs.LevelKind { return cmp.Or(s.Kind, runs.Concurrency) }

// LevelName returns "concurrency" or "rate".
func (s *Study) LevelName() string { return string(s.LevelKind()) }

// At returns levels with their unit: "concurrency 40 and 60".
func (s *Study) At(levels ...float64) string { return s.LevelKind().At(levels...) }

// Levels returns all levels of all series, in rising order.
func (s *Study) Levels() []float64 {
	var all []float64
	for _, series := range s.Series {
		for _, l := range series.Levels {
			all = append(all, l.At)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
