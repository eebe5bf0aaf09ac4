package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Point is a level and a value that was found there.
type Point struct {
	At    float64
	Value float64
	Found bool
}

// Saturation describes where a series stops scaling.
type Saturation struct {
	Series string
	// FirstErrors is the lowest level with a failed turn, and its error percentage.
	FirstErrors Point
	// Sustained is the lowest level with too many errors if most levels above it have them too.
	Sustained Point
	// Dips are levels above Sustained without too many errors.
	Dips []float64
	// SlowTTFT is the lowest level with a TTFT p50 above 1 s, and that TTFT.
	SlowTTFT Point
	// Step is the level with the largest relative rise of Metric, in percent, from the previous
	// level, From.
	Step   Point
	From   float64
	Metric Metric
	// Plateau is the lowest level of a plateau: at least three levels up to the highest, with
	// TPOT p50 within 3 % of their mean, which is Value. Without a plateau Found is false, and
	// At and Value describe the highest level.
	Plateau Point
	// Last is the highest level before errors or a slow TTFT; 0 if the lowest is already
	// beyond.
	Last float64
	// Known is set if every level has a TTFT p50, which Last and SlowTTFT need. ErrorsKnown is
	// set if a level has an error count.
	Known, ErrorsKnown bool
}

const (
	slowTTFT      = 1000 // ms
	plateauSpread = 0.03
	plateauLevels = 3
)

// Saturate finds the saturation point among the sound levels of a series.
func Saturate(series Series) Saturation {
	series = Sound(series)
	s := Saturation{Series: series.Name, Metric: degradationMetric(series), Known: true, ErrorsKnown: series.Any(func(l Level) bool { return l.Has(ErrorPct) })}
	for i, l := range series.Levels {
		s.Known = s.Known && !math.IsNaN(l.Value(TTFTP50))
		if pct := l.Value(ErrorPct); pct > 0 && !s.FirstErrors.Found {
			s.FirstErrors = Point{l.At, pct, true}
		}
		if v := l.Value(TTFTP50); v > slowTTFT && !s.SlowTTFT.Found {
			s.SlowTTFT = Point{l.At, v, true}
		}
		if rest := series.Levels[i:]; !s.Sustained.Found && hasTooManyErrors(l) {
			var dips []float64
			for _, l := range rest {
				if !hasTooManyErrors(l) {
					dips = append(dips, l.At)
				}
			}
			if 2*len(dips) < len(rest) {
				s.Sustained, s.Dips = Point{l.At, l.Value(ErrorPct), true}, dips
			}
		}
		if !s.FirstErrors.Found && !s.SlowTTFT.Found {
			s.Last = l.At
		}
	}
	s.findStep(series)
	s.findPlateau(series)
	return s
}

// hasTooManyErrors reports whether a level, or most of its runs, exceeded MaxErrorPct.
func hasTooManyErrors(l Level) bool {
	return l.Value(ErrorPct) > MaxErrorPct || l.Valid*2 < l.Runs
}

// degradationMetric returns the first of these latencies that the most levels have.
func degradationMetric(series Series) Metric {
	best, most := NoMetric, 0
	for _, m := range []Metric{TPOTP95, TPOTP99, TPOTP50, LatencyP95, TTFTP95, TTFTP50} {
		if known := Summarize(series.Levels, func(l Level) float64 { return l.Value(m) }).Levels; known > most {
			best, most = m, known
		}
	}
	return best
}

func (s *Saturation) findStep(series Series) {
	last, at := math.NaN(), 0.0
	for _, l := range series.Levels {
		v := l.Value(s.Metric)
		if rise := 100 * (v/last - 1); rise > s.Step.Value {
			s.Step, s.From = Point{l.At, rise, true}, at
		}
		if !math.IsNaN(v) {
			last, at = v, l.At
		}
	}
}

func (s *Saturation) findPlateau(series Series) {
	var tail []float64
	for _, l := range slices.Backward(series.Levels) {
		v := l.Value(TPOTP50)
		if math.IsNaN(v) {
			break
		}
		tail = append(tail, v)
		mean := stat.Mean(tail, nil)
		if slices.Max(tail)-slices.Min(tail) > plateauSpread*mean {
			break
		}
		if len(tail) == 1 || len(tail) >= plateauLevels {
			s.Plateau = Point{l.At, mean, len(tail) >= plateauLevels}
		}
	}
}

// Band is the position of a level on the degradation curve.
type Band string

const (
	Clean     Band = "clean"
	Degrading Band = "degrading"
	Saturated Band = "saturated"
	// NotReached: the level did not carry its load. Distorted: the prober was the limit.
	NotReached Band = "not reached"
	Distorted  Band = "distorted"
)

// degradingRise is the least rise, in percent, of a step from clean to degrading levels.
const degradingRise = 10

// Bands returns the band of every level: saturated from the first errors or slow TTFT,
// degrading from a large step below that, otherwise clean.
func Bands(series Series) []Band {
	s := Saturate(series)
	var bands []Band
	for _, l := range series.Levels {
		reached := func(p Point) bool { return p.Found && l.At >= p.At }
		switch {
		case l.NotReached != "":
			bands = append(bands, NotReached)
		case Unsound(l) != "":
			bands = append(bands, Distorted)
		case reached(s.FirstErrors) || reached(s.SlowTTFT) || reached(s.Sustained):
			bands = append(bands, Saturated)
		case s.Step.Value >= degradingRise && reached(s.Step):
			bands = append(bands, Degrading)
		default:
			bands = append(bands, Clean)
		}
	}
	return bands
}

// Sentence says which level saturates the series.
func (s Saturation) Sentence(level string) string {
	switch {
	case !s.Known:
		return fmt.Sprintf("Where %s saturates is not known: the TTFT p50 is not, at some %s.", s.Series, level)
	case s.Last == 0 && !s.FirstErrors.Found && !s.SlowTTFT.Found:
		return fmt.Sprintf("Where %s saturates is not known: no %s was reached without being distorted by the prober itself.", s.Series, level)
	case !s.FirstErrors.Found && !s.SlowTTFT.Found:
		return fmt.Sprintf("%s does not saturate up to %s %g.", s.Series, level, s.Last)
	case s.Last == 0:
		return fmt.Sprintf("%s is saturated at the lowest %s already.", s.Series, level)
	}
	return fmt.Sprintf("%s scales to %s %g without errors and with a TTFT p50 of at most 1 s.", s.Series, level, s.Last)
}
