package baseline

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Moments are sums over turns that never fall, so that PromQL computes the exact geometric mean
// of any window. They use logarithms of microseconds: logarithms of seconds
// can be negative, and a counter must not fall.
type Moments struct {
	Turns float64
	// Log2 is Σ log₂(value / 1 µs).
	Log2 float64
	// BaselineLog2 is Σ log₂(baseline / 1 µs), with the baseline at the time of each turn. A
	// turn without a baseline counts as on it.
	BaselineLog2 float64
}

func (m *Moments) add(ln, baselineLn float64) {
	l, b := log2Micros(ln), log2Micros(baselineLn)
	m.Turns++
	m.Log2 += l
	m.BaselineLog2 += b
}

// log2Micros converts a natural logarithm of seconds to a binary logarithm of microseconds, at
// least 0.
func log2Micros(ln float64) float64 { return max(0, ln*math.Log2E+math.Log2(1e6)) }

// logSeconds returns the natural logarithm of a duration in seconds; durations below 1 µs count
// as 1 µs.
func logSeconds(d time.Duration) float64 { return math.Log(max(d, time.Microsecond).Seconds()) }

// values of a turn by signal; undefined if the turn has no information about it
type values [signals]probe.Opt[time.Duration]

// valuesOf returns the values of a turn. A turn that timed out before its first token counts
// with its deadline, or with its waiting time if that is longer; a turn that stalled counts the
// same way in the TPOT. Other failures, and turns that the prober ended, have no values.
func valuesOf(r *probe.Result, t workload.Timeouts) values {
	if r.Outcome.Own() {
		return values{}
	}
	v := values{r.TTFT, r.TPOT}
	if failed := r.Outcome.Failed() && !r.Outcome.WrongAnswer(); !failed {
		return v
	}
	v[1].OK = false
	switch hung := r.Outcome == probe.TimeoutFirstToken || r.Outcome == probe.Stall || r.Outcome == probe.TimeoutTotal; {
	case hung && r.TTFT.OK:
		v[1] = deadline(t.Stall, 0)
	case hung:
		v[0] = deadline(cmp.Or(t.FirstToken, t.Total), r.Duration())
	}
	return v
}

// deadline returns the longer of a bound and a waiting time; undefined if both are 0.
func deadline(bound, waited time.Duration) probe.Opt[time.Duration] {
	d := max(bound, waited)
	return probe.Opt[time.Duration]{V: d, OK: d > 0}
}
