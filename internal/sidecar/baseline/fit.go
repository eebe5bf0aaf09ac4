package baseline

import "math"

// What a state file may hold. Any number that was measured is far within these
// bounds; one beyond them came from a damaged file, and what is computed from it
// would overflow and could never be saved again.
const (
	// mostLog bounds logarithms of seconds: those of 1 µs and of 292 years, the
	// shortest and the longest duration there is, are -14 and 23.
	mostLog = 32
	// mostTurns bounds numbers of turns, mostSeconds means of
	// seconds and of tokens.
	mostTurns, mostSeconds = 1e12, 1e9
	// earliest and latest bound times, in seconds since 1970: a few days, for those
	// before which a window or a season may look, and some 500 years.
	earliest, latest = 30 * 86400, 1 << 34
)

// upTo is v if it is between 0 and most, or else 0.
func upTo(most, v float64) float64 {
	if v >= 0 && v <= most {
		return v
	}
	return 0
}

func (e entry) fits() bool {
	return fitsTime(startOf(e.number).Unix()) && e.n() > 0 && math.Abs(float64(e.mean)) <= mostLog && e.variance >= 0 && e.variance <= mostLog*mostLog &&
		e.bad >= 0 && e.bad <= 1
}

// fitsTime says that a time, in seconds since 1970, can have been one.
func fitsTime(seconds int64) bool { return seconds >= earliest && seconds < latest }

func (m means) fitting() means {
	for _, v := range []float64{m.Connect, m.TTFT, m.TPOT, m.Output} {
		if !(v >= 0 && v <= mostSeconds) {
			return means{}
		}
	}
	m.Turns = upTo(mostTurns, m.Turns)
	return m
}
