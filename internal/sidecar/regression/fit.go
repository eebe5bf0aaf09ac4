package regression

import "math"

// What a state file may hold. Any number that was measured is far within these
// bounds; one beyond them came from a damaged file, and what is computed from it
// would overflow and could never be saved again.
const (
	// mostLog bounds logarithms of seconds: those of 1 µs and of 292 years, the
	// shortest and the longest duration there is, are -14 and 23.
	mostLog = 32
	// mostMinutes bounds minutes and log·minutes, about two years.
	mostMinutes = 1e6
	// mostTurns bounds numbers of turns and of half hours, mostSeconds means of
	// seconds and of tokens.
	mostTurns, mostSeconds = 1e12, 1e9
)

// upTo is v if it is between 0 and most, or else 0.
func upTo(most, v float64) float64 {
	if v >= 0 && v <= most {
		return v
	}
	return 0
}

func (e Entry) fits() bool {
	return e.N > 0 && math.Abs(float64(e.Mean)) <= mostLog && e.Variance >= 0 && e.Variance <= mostLog*mostLog
}

func (d deviations) fits() bool {
	return d.N > 0 && d.N <= mostTurns && d.Squares >= 0 && d.Squares <= mostLog*mostLog*d.N && math.Abs(d.Lean) <= mostLog
}

func (s StepState) fitting() StepState {
	if math.Abs(s.Recent) > mostLog {
		return StepState{}
	}
	s.Sum, s.Gap = upTo(mostMinutes, s.Sum), upTo(mostMinutes, s.Gap)
	return s
}

func (m means) fitting() means {
	for _, v := range []float64{m.Connect, m.TTFT, m.TPOT, m.Output} {
		if !(v >= 0 && v <= mostSeconds) {
			return means{}
		}
	}
	m.Turns = upTo(mostTurns, m.Turns)
	return m
}
