// Package figures is what reports are made of: levels with named figures, read
// from runs of this program or from reports that other tools wrote, so that
// the two can stand side by side.
//
// Times are milliseconds and shares are percent here, as such reports have
// them; the keys of the figures in JSON and CSV are theirs too (see Metric.Key).
package figures

import (
	"cmp"
	"math"
	"slices"
	"time"

	"synthetic/internal/study/runfile"
)

// Study is one or several configurations measured over the same levels.
type Study struct {
	// Name labels the study beside others; File is where it was read.
	Name, File string
	Title      string
	// Run is what was read, nil for a report; Turns is the log of its turns that lies
	// beside it, "" for none; Counted says that Recount judged them.
	Run     *runfile.Run
	Turns   string
	Counted bool
	// Generated as the file says; zero when it does not.
	Generated time.Time
	Kind      runfile.LevelKind
	TargetRPS *float64
	// Method and Deployment are tables to be printed.
	Method     []runfile.Parameter
	Deployment []runfile.Parameter
	// Workload is what decides whether studies may be compared; nil when the
	// file does not say.
	Workload   []runfile.Parameter
	Objectives []Objective
	// Series in the order to be printed; the first is the baseline.
	Series []Series
	// Notes say what a reader has to know of how the figures came about.
	Notes []string
	// Interrupted says why a sweep did not come to its end, so that levels may be
	// missing; "" when it did, or the file does not tell.
	Interrupted string
	// Warnings concern the measurement as a whole.
	Warnings []string
	// Capacities are what the sweep proved of each variant.
	Capacities []runfile.Capacity
}

// Series is one configuration.
type Series struct {
	Name string
	// Levels in rising order.
	Levels []Level
}

// Level is one level of one configuration.
type Level struct {
	// At is conversations in flight or starts per second.
	At      float64
	Figures map[Metric]Figure
	// Errors counts failed turns by outcome; nil when unknown.
	Errors map[string]uint64
	// Runs were measured, of which Valid had few enough errors to stand for
	// the level's latencies; 0 when unknown.
	Runs, Valid int
	// Excluded says of each other run why.
	Excluded []string
	// GivenUp says that the sweep gave the level up as failed: a queue that
	// grew, a target that was gone, an objective that could not be met any more.
	GivenUp bool
	// NotReached says that the level did not carry the load that it is named by,
	// why, and what helps; "" when it did. Nothing is concluded from such a level.
	NotReached string
	// Limit says how the prober itself, or its machine, was the limit in one of the
	// runs at least, so that the figures say nothing of the SLOs; "" when it was not.
	Limit string
	// Verdict is what counted turns prove of the study's objectives; nil where
	// none were counted.
	Verdict *runfile.LevelVerdict
	Server  []ServerFigure
	// Families of metrics that were found, by their source.
	Families map[string][]string
	// Drift is ln(TTFT at the end / TTFT at the begin) of the measurement, where it is
	// beyond chance; 0 otherwise.
	Drift    float64
	Warnings []string
}

// ServerFigure is what the deployment said of itself, averaged over snapshots.
type ServerFigure struct {
	Source, Name string
	Value        float64
}

// Figure is one number and how well it is known.
type Figure struct {
	// Value is NaN when unknown and +∞ when failures reach it.
	Value float64
	// Low and High are the ends of the 95 % interval; NaN without one.
	Low, High float64
	// N is the number of turns behind it; 0 when unknown.
	N uint64
	// Needed is more than N when there were too few turns to tell the value.
	Needed uint64
	// Quantile says that it is one of a measured distribution, of which an
	// interval is to be expected.
	Quantile bool
	// Step is the last digit of a figure that is only known as it was printed;
	// 0 for others.
	Step float64
}

// Plain is a figure of which nothing but its value is known.
func Plain(v float64) Figure { return Figure{Value: v, Low: math.NaN(), High: math.NaN()} }

// Unknown is the figure of what was not measured.
func Unknown() Figure { return Plain(math.NaN()) }

// Known reports whether the value may be told.
func (f Figure) Known() bool { return !math.IsNaN(f.Value) && f.Needed <= f.N }

// Ranged reports whether an interval is known.
func (f Figure) Ranged() bool { return f.Known() && !math.IsNaN(f.Low) && !math.IsNaN(f.High) }

// Uncertain reports a quantile that was measured and has no whole interval:
// its turns resemble each other too much for one.
func (f Figure) Uncertain() bool { return f.Known() && f.Quantile && !f.Ranged() }

// Figure returns a figure; Unknown when there is none.
func (l Level) Figure(m Metric) Figure {
	if f, ok := l.Figures[m]; ok {
		return f
	}
	return Unknown()
}

// Value is the value of a known figure, else NaN.
func (l Level) Value(m Metric) float64 {
	if f := l.Figure(m); f.Known() {
		return f.Value
	}
	return math.NaN()
}

// Level returns the level at a value; one of which nothing is known, and false,
// when it was not measured.
func (s Series) Level(at float64) (Level, bool) {
	i := slices.IndexFunc(s.Levels, func(l Level) bool { return l.At == at })
	if i < 0 {
		return Level{}, false
	}
	return s.Levels[i], true
}

// Any reports whether something holds of any level.
func (s Series) Any(holds func(Level) bool) bool { return slices.ContainsFunc(s.Levels, holds) }

// Any reports whether something holds of any level of any series.
func (s *Study) Any(holds func(Level) bool) bool {
	return slices.ContainsFunc(s.Series, func(x Series) bool { return x.Any(holds) })
}

// Has reports whether the level knows the figure, or knows that it lacks
// samples for it.
func (l Level) Has(m Metric) bool {
	f := l.Figure(m)
	return f.Known() || f.Needed > f.N
}

// Has reports whether any level has the figure.
func (s *Study) Has(m Metric) bool { return s.Any(func(l Level) bool { return l.Has(m) }) }

// index of a series; -1 when there is none of that name.
func (s *Study) seriesIndex(name string) int {
	return slices.IndexFunc(s.Series, func(x Series) bool { return x.Name == name })
}

// Of is the series of that name; one without levels when there is none.
func (s *Study) SeriesNamed(name string) Series {
	if i := s.seriesIndex(name); i >= 0 {
		return s.Series[i]
	}
	return Series{Name: name}
}

// LevelName is "concurrency" or "rate".
func (s *Study) LevelName() string { return string(cmp.Or(s.Kind, runfile.Concurrency)) }

// Levels are all levels of all series, in rising order.
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
