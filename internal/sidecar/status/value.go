package status

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"synthetic/internal/probe"
)

// Duration may be undefined ("n/a") or infinite ("∞": the quantile falls among turns without a
// value). In JSON it is a number of seconds, null, or "+Inf".
type Duration probe.Opt[time.Duration]

// infinite is the value of turns without one.
const infinite = time.Duration(math.MaxInt64)

// String formats the duration for people, with about three digits.
func (d Duration) String() string {
	switch {
	case !d.OK:
		return "n/a"
	case d.V == infinite:
		return "∞"
	}
	return short(d.V)
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) {
	if d.V == infinite {
		return marshal(math.Inf(1), d.OK)
	}
	return marshal(d.V.Seconds(), d.OK)
}

// marshal encodes a number that may be unknown or infinite, which JSON has no numbers for.
func marshal(v float64, known bool) ([]byte, error) {
	switch {
	case !known:
		return []byte("null"), nil
	case math.IsInf(v, 1):
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(v)
}

// short formats a duration with about three digits.
func short(d time.Duration) string {
	switch s := d.Seconds(); {
	case d < 0:
		return "-" + short(-d)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", s)
	case d < 100*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", s)
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", s)
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// share is a number from 0 to 1 that may be undefined ("n/a", null in JSON).
type share probe.Opt[float64]

// shareOf returns part / whole, undefined for a whole of 0.
func shareOf(part, whole int) share {
	return share{V: float64(part) / float64(max(whole, 1)), OK: whole > 0}
}

// String formats the share in percent, rounded for reading. Only exact values are shown as 0 % or 100 %: one failure in a
// thousand must not read as none.
func (s share) String() string {
	if !s.OK {
		return "n/a"
	}
	percent := 100 * s.V
	digits := 0
	if percent < 10 {
		digits = 1
	}
	for ; digits < 6 && (rounds(percent, 0, digits) || rounds(percent, 100, digits)); digits++ {
	}
	if percent == math.Trunc(percent) {
		digits = 0
	}
	return fmt.Sprintf("%.*f %%", digits, percent)
}

// rounds reports whether v differs from bound but would be printed as bound.
func rounds(v, bound float64, digits int) bool {
	return v != bound && math.Abs(v-bound) <= 0.5*math.Pow10(-digits)
}

// MarshalJSON implements json.Marshaler.
func (s share) MarshalJSON() ([]byte, error) { return marshal(s.V, s.OK) }

// multiple is a ratio of levels that may be undefined, or infinite if no ratio qualifies. In
// JSON it is a number, null, or "+Inf".
type multiple probe.Opt[float64]

func (m multiple) String() string {
	switch {
	case !m.OK:
		return "n/a"
	case math.IsInf(m.V, 1):
		return "nothing"
	}
	return fmt.Sprintf("×%.2f", m.V)
}

// MarshalJSON implements json.Marshaler.
func (m multiple) MarshalJSON() ([]byte, error) { return marshal(m.V, m.OK) }
