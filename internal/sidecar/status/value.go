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

// endless is the value of turns without one.
const endless = time.Duration(math.MaxInt64)

// String formats the duration for people, with about three digits.
func (d Duration) String() string {
	switch {
	case !d.OK:
		return "n/a"
	case d.V == endless:
		return "∞"
	}
	return short(d.V)
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) {
	switch {
	case !d.OK:
		return []byte("null"), nil
	case d.V == endless:
		return []byte(`"+Inf"`), nil
	}
	return json.Marshal(d.V.Seconds())
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

// Ratio is a share from 0 to 1 that may be undefined ("n/a", null in JSON).
type Ratio probe.Opt[float64]

// ratio returns part / whole, undefined for a whole of 0.
func ratio(part, whole int) Ratio {
	if whole == 0 {
		return Ratio{}
	}
	return Ratio(probe.Some(float64(part) / float64(whole)))
}

// String formats the ratio in percent. Only exact values are shown as 0 % or 100 %: one failure
// in a thousand must not read as none.
func (r Ratio) String() string {
	if !r.OK {
		return "n/a"
	}
	percent := 100 * r.V
	digits := 1
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
func (r Ratio) MarshalJSON() ([]byte, error) {
	if !r.OK {
		return []byte("null"), nil
	}
	return json.Marshal(r.V)
}
