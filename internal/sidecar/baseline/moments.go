package baseline

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// Moments are sums over turns that never fall, so that the geometric mean of
// any window and its standard error are exact in PromQL. Logarithms are of
// microseconds: of seconds they would be negative, and a counter must not fall.
type Moments struct {
	// Turns is the number of turns that entered.
	Turns float64
	// Log2 is Σ log₂(value / 1 µs), Log2Squared the sum of its squares.
	Log2, Log2Squared float64
	// BaselineLog2 is Σ log₂(baseline / 1 µs), each baseline as it was when the
	// turn came. A turn without a baseline counts as on it.
	BaselineLog2 float64
	// Tail counts the turns beyond the tail limit.
	Tail float64
}

func (m *Moments) add(ln, baselineLn float64, tail bool) {
	l, b := log2Micros(ln), log2Micros(baselineLn)
	m.Turns++
	m.Log2 += l
	m.Log2Squared += l * l
	m.BaselineLog2 += b
	if tail {
		m.Tail++
	}
}

// log2Micros turns the natural logarithm of seconds into the binary one of
// microseconds; what is shorter counts as 1 µs.
func log2Micros(ln float64) float64 { return max(0, ln*math.Log2E+math.Log2(1e6)) }

// logSeconds is the natural logarithm of a duration in seconds; what is
// shorter than 1 µs counts as that.
func logSeconds(d time.Duration) float64 { return math.Log(max(d, time.Microsecond).Seconds()) }

// values are what a turn says of each signal; undefined where it says nothing.
type values [signals]probe.Opt[time.Duration]

// Measured are the values of a turn by index of Signals, as those that are compared
// with the usual are; none where the prober itself may have added too much to one.
func Measured(r *probe.Result, t workload.Timeouts) [signals]probe.Opt[time.Duration] {
	v := valuesOf(r, t)
	for i := range v {
		v[i].OK = v[i].OK && !late(r, i, v[i].V)
	}
	return v
}

// valuesOf reads a turn. A turn that waited for its first token in vain enters as
// its deadline, or as what it waited if that is longer, and so does the pace of one
// that stood still in mid-answer. Any other failure says nothing of the latency: it
// counts in the availability. A turn that the prober itself ended says nothing at
// all.
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

// deadline is the longer of a bound and what was waited; undefined if there is
// neither.
func deadline(bound, waited time.Duration) probe.Opt[time.Duration] {
	d := max(bound, waited)
	return probe.Opt[time.Duration]{V: d, OK: d > 0}
}
