package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"synthetic/internal/study/runs"
)

// foundPoint is a level and a value that was found there.
type foundPoint struct {
	At, Value float64
	Found     bool
}

// finitePoints returns the known and finite values of a figure, by rising level.
func finitePoints(series Series, m Metric) (all []foundPoint) {
	for _, l := range series.Levels {
		if v := l.Value(m); !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, foundPoint{l.At, v, true})
		}
	}
	return all
}

// saturation describes where a series stops scaling.
type saturation struct {
	Series      string
	FirstErrors foundPoint // lowest level with a failed turn, and its error percentage
	// Sustained is the lowest level with too many errors if most levels above it have them too.
	// Dips are levels above it without too many errors.
	Sustained foundPoint
	Dips      []float64
	SlowTTFT  foundPoint // lowest level with a TTFT p50 above 1 s, and that TTFT
	// Step is the level with the largest relative rise of Metric, in percent, from the previous level, From.
	Step   foundPoint
	From   float64
	Metric Metric
	// Plateau is the lowest level of a plateau: at least three levels up to the highest, with TPOT p50 within 3 % of
	// their mean, which is Value. Without a plateau Found is false, and At and Value describe the highest level.
	Plateau foundPoint
	Last    float64   // highest level before errors or a slow TTFT, 0 for none
	LeftOut []float64 // levels with a run that was left out for errors beside valid ones
	// Known is set if every level has a TTFT p50, which Last and SlowTTFT need. ErrorsKnown is
	// set if a level has an error count.
	Known, ErrorsKnown bool
}

const (
	slowTTFT      = 1000 // ms
	plateauSpread = 0.03
	plateauLevels = 3
)

// saturate finds the saturation point among the sound levels of a series.
func saturate(series Series) saturation {
	series = sound(series)
	s := saturation{Series: series.Name, Metric: degradationMetric(series), Known: true, ErrorsKnown: series.Any(func(l Level) bool { return l.Has(ErrorPct) })}
	for i, l := range series.Levels {
		if l.Valid > 0 && l.Valid < l.Runs {
			s.LeftOut = append(s.LeftOut, l.At)
		}
		s.Known = s.Known && !math.IsNaN(l.Value(TTFTP50))
		if pct := l.Value(ErrorPct); pct > 0 && !s.FirstErrors.Found {
			s.FirstErrors = foundPoint{l.At, pct, true}
		}
		if v := l.Value(TTFTP50); v > slowTTFT && !s.SlowTTFT.Found {
			s.SlowTTFT = foundPoint{l.At, v, true}
		}
		if rest := series.Levels[i:]; !s.Sustained.Found && hasTooManyErrors(l) {
			var dips []float64
			for _, l := range rest {
				if !hasTooManyErrors(l) {
					dips = append(dips, l.At)
				}
			}
			if 2*len(dips) < len(rest) {
				s.Sustained, s.Dips = foundPoint{l.At, l.Value(ErrorPct), true}, dips
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

func hasTooManyErrors(l Level) bool {
	return l.Value(ErrorPct) > MaxErrorPct || mostLeftOut(l)
}

// mostLeftOut reports whether more than half of the runs of a level were left out for errors.
func mostLeftOut(l Level) bool { return l.Valid*2 < l.Runs }

// degradationMetric returns the first of these latencies that the most levels have.
func degradationMetric(series Series) (best Metric) {
	most := 0
	for _, m := range []Metric{TPOTP95, TPOTP99, TPOTP50, LatencyP95, TTFTP95, TTFTP50} {
		if known := len(finitePoints(series, m)); known > most {
			best, most = m, known
		}
	}
	return best
}

func (s *saturation) findStep(series Series) {
	last, at := math.NaN(), 0.0
	for _, l := range series.Levels {
		v := l.Value(s.Metric)
		if rise := 100 * (v/last - 1); rise > s.Step.Value {
			s.Step, s.From = foundPoint{l.At, rise, true}, at
		}
		if !math.IsNaN(v) {
			last, at = v, l.At
		}
	}
}

func (s *saturation) findPlateau(series Series) {
	var tail []float64
	for _, l := range slices.Backward(series.Levels) {
		v := l.Value(TPOTP50)
		if math.IsNaN(v) {
			break
		}
		tail = append(tail, v)
		mean := floats.Sum(tail) / float64(len(tail))
		if slices.Max(tail)-slices.Min(tail) > plateauSpread*mean {
			break
		}
		if len(tail) == 1 || len(tail) >= plateauLevels {
			s.Plateau = foundPoint{l.At, mean, len(tail) >= plateauLevels}
		}
	}
}

// band is the position of a level on the degradation curve.
type band string

const (
	bandClean     band = "clean"
	bandDegrading band = "degrading"
	bandSaturated band = "saturated"
	// The level did not carry its load.
	bandUnsound band = "not judged"
)

const degradingRise = 10

// levelBands returns the band of every level: saturated from the first errors or slow TTFT,
// degrading from a large step below that, otherwise clean.
func levelBands(series Series) []band {
	s := saturate(series)
	var bands []band
	for _, l := range series.Levels {
		reached := func(p foundPoint) bool { return p.Found && l.At >= p.At }
		switch {
		case unsound(l) != "":
			bands = append(bands, bandUnsound)
		case reached(s.FirstErrors) || reached(s.SlowTTFT) || reached(s.Sustained):
			bands = append(bands, bandSaturated)
		case s.Step.Value >= degradingRise && reached(s.Step):
			bands = append(bands, bandDegrading)
		default:
			bands = append(bands, bandClean)
		}
	}
	return bands
}

// end returns the lowest level with errors or a slow TTFT, +∞ for none.
func (s saturation) end() float64 {
	end := math.Inf(1)
	for _, p := range []foundPoint{s.FirstErrors, s.SlowTTFT} {
		if p.Found {
			end = min(end, p.At)
		}
	}
	return end
}

// sentence says which level saturates the series.
func (s saturation) sentence(kind runs.LevelKind) string {
	except := ""
	if i, _ := slices.BinarySearch(s.LeftOut, math.Nextafter(s.Last, math.Inf(1))); i > 0 {
		except = fmt.Sprintf(", apart from the runs that were left out at %s", kind.At(s.LeftOut[:i]...))
	}
	switch {
	case s.Last == 0 && (s.FirstErrors.Found || s.SlowTTFT.Found):
		return fmt.Sprintf("%s is saturated at the lowest %s already.", s.Series, kind)
	case !s.Known:
		return fmt.Sprintf("Where %s saturates is unknown: the TTFT p50 is unknown at some %s.", s.Series, kind)
	case s.Last == 0:
		return fmt.Sprintf("Where %s saturates is unknown: no %s carried its load.", s.Series, kind)
	case !s.FirstErrors.Found && !s.SlowTTFT.Found:
		return fmt.Sprintf("%s does not saturate up to %s%s.", s.Series, kind.At(s.Last), except)
	}
	return fmt.Sprintf("%s scales to %s without errors and with a TTFT p50 of at most 1 s%s.", s.Series, kind.At(s.Last), except)
}

// sound returns the series without unsound levels.
func sound(series Series) Series {
	series.Levels = slices.DeleteFunc(slices.Clone(series.Levels), func(l Level) bool { return unsound(l) != "" })
	return series
}
