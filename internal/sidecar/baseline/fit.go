package baseline

import "math"

// Bounds of the numbers in a state file. A number beyond them comes from a damaged file; values
// computed from it would overflow and could not be saved again.
const (
	// mostLog bounds logarithms of seconds. Those of 1 µs and of 292 years, the longest
	// time.Duration, are -14 and 23.
	mostLog = 32
	// mostTurns bounds numbers of turns, mostSeconds means of seconds and of tokens.
	mostTurns, mostSeconds = 1e12, 1e9
	// earliest and latest bound times, in seconds since 1970. earliest leaves room for windows
	// and seasons before it; latest is about 500 years.
	earliest, latest = 30 * 86400, 1 << 34
)

// clampFinite returns v if it is between 0 and most, or else 0.
func clampFinite(most, v float64) float64 {
	if v >= 0 && v <= most {
		return v
	}
	return 0
}

func (e entry) fits() bool {
	return fitsTime(startOf(e.number).Unix()) && e.n() > 0 && math.Abs(float64(e.mean)) <= mostLog && e.variance >= 0 && e.variance <= mostLog*mostLog &&
		e.bad >= 0 && e.bad <= 1
}

// fitsTime reports whether a time, in seconds since 1970, is plausible.
func fitsTime(seconds int64) bool { return seconds >= earliest && seconds < latest }

func (m means) fitting() means {
	for _, v := range []float64{m.Connect, m.TTFT, m.TPOT, m.Output} {
		if !(v >= 0 && v <= mostSeconds) {
			return means{}
		}
	}
	m.Turns = clampFinite(mostTurns, m.Turns)
	return m
}
