package watch

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Moments are sums over turns that never fall, so that PromQL computes the exact geometric mean of any window.
type Moments struct {
	Turns float64
	// Log2 is Σ log₂(value / 1 µs): logarithms of seconds can be negative, and a counter must not fall.
	Log2 float64
}

func (m *Moments) add(value time.Duration) {
	m.Turns++
	m.Log2 += math.Log2(float64(max(value, time.Microsecond)) / float64(time.Microsecond))
}

// logSeconds returns the natural logarithm of a duration in seconds; durations below 1 µs count as 1 µs.
func logSeconds(d time.Duration) float64 { return math.Log(max(d, time.Microsecond).Seconds()) }

// valuesOf returns the values of a turn by signal. A turn that timed out before its first token counts with its deadline,
// or with its waiting time if that is longer; a turn that stalled counts the same way in the TPOT. Other failures have no
// values.
func valuesOf(r *probe.Result, t workload.Timeouts) [signalCount]probe.Opt[time.Duration] {
	v := [signalCount]probe.Opt[time.Duration]{r.TTFT, r.TPOT}
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
