package regression

import "math"

// The step detector sees regressions that are too small for the CUSUM, which
// must let pass whatever the level may reach by wandering. A level wanders
// slowly, and a fault comes at once: the second sum is of what the level rises
// above what it just was. It was chosen by replay; docs/background/alert-quality.md has the
// figures.
const (
	// binMinutes of turns are taken together. Single turns are so noisy that
	// the sum would return to 0 between any two.
	binMinutes = 1.0
	// followMinutes is over how long the recent level is averaged, fadeMinutes
	// how fast it is expected to return to the baseline.
	followMinutes, fadeMinutes = 12.0, 60.0
	// stepNoise times the noise of the level is the rise that is let pass, at
	// least stepFloor.
	stepNoise, stepFloor = 1.88, 0.15
	// levelLimit times the noise of the level is the limit in log·minutes, at
	// least leastLimit: a burst of two minutes is no regression. turnLimit does
	// for the noise of turns what noiseLimit does for the CUSUM, and allows for
	// that of the recent level.
	levelLimit, leastLimit, turnLimit = 16.0, 1.6, 35.0
	// stepSmoothing is over how many turns the time between them is averaged.
	stepSmoothing = 200.0
	// stepOver is the part of the limit below which a step is over: a level that
	// wanders about the limit is one step and not many.
	stepOver = 0.8
)

// step is a one-sided cumulative sum of the rise above the recent level, in
// log·minutes.
type step struct {
	StepState
	// The bin that is being filled.
	filled, total, turns float64
}

// StepState is what of a step must survive a restart.
type StepState struct {
	Sum float64 `json:"sum"`
	// Up says that there was a step, which is not over.
	Up bool `json:"up"`
	// Recent is the level (log ratio to the baseline) before the sum left 0.
	// While the sum is above 0 it does not follow, or it would absorb the fault;
	// it returns to 0 as a wandering level does, so that in the end a level is
	// compared with its baseline.
	Recent float64 `json:"recent"`
	// Gap is the smoothed time between turns in minutes, 0 before the first bin.
	// The limit hangs on it and must not tremble.
	Gap float64 `json:"gap_minutes"`
}

// bounds are those for turns whose logarithm has a standard deviation spread
// around a level with the standard deviation noise.
func (s *step) bounds(spread, noise float64) bounds {
	a := max(stepFloor, stepNoise*noise)
	return bounds{a, max(leastLimit, levelLimit*noise, turnLimit*spread*spread*s.Gap/a)}
}

// add takes a turn with a log ratio, minutes after the turn before it.
func (s *step) add(x, minutes float64, b bounds) {
	if minutes > 0 { // not the first turn, nor after a clock that went back
		s.filled += min(minutes, max(binMinutes, gapJump*s.Gap))
	}
	s.total += min(max(x, -clip), clip)
	s.turns++
	if s.filled < binMinutes {
		return
	}
	if s.Gap == 0 {
		s.Gap = s.filled / s.turns
	}
	s.Gap += (s.filled/s.turns - s.Gap) * min(1, s.turns/stepSmoothing)
	s.close(s.total/s.turns, s.filled, b)
	s.filled, s.total, s.turns = 0, 0, 0
}

// close takes the mean of a bin.
func (s *step) close(mean, minutes float64, b bounds) {
	s.Recent *= math.Exp(-minutes / fadeMinutes)
	if s.Sum == 0 {
		s.Recent += (mean - s.Recent) * (1 - math.Exp(-minutes/followMinutes))
	}
	s.Sum += minutes * (mean - max(0, s.Recent) - b.allowance)
	s.Sum = min(max(0, s.Sum), b.limit)
	s.Up = s.Sum >= b.limit || s.Up && s.Sum >= stepOver*b.limit
}

// ratio is the sum in limits, at least 1 until a step is over.
func (s *step) ratio(b bounds) float64 {
	if s.Up {
		return max(1, s.Sum/(stepOver*b.limit))
	}
	return min(s.Sum/b.limit, 1-1e-9)
}
