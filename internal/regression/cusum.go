package regression

import "math"

// The CUSUM grows by the logarithm of the ratio to the baseline less an
// allowance, per minute, and never falls below 0. Thresholds were chosen by
// replay; docs/alert-quality.md has the figures.
const (
	// allowance is the log ratio that is let pass for ever: e^0.40 is 1.49.
	allowance = 0.40
	// baseLimit is the limit in log·minutes where turns are plenty: 3 times the
	// baseline reaches it in 1.9 minutes, 2 times in 4.4.
	baseLimit = 1.3
	// noiseLimit scales the limit where turns are few or noisy. A random walk
	// of variance v per minute under an allowance a exceeds h with a chance of
	// about e^(−2ah/v) each time it leaves 0; this makes it e^−14.
	noiseLimit = 14 / (2 * allowance)
	// overshoot caps the sum, in limits, so that it falls back soon after the
	// fault has ended.
	overshoot = 1.5
	// clip bounds what one turn can add: an outlier or a deadline is no more
	// than e² times the baseline.
	clip = 2.0
	// gapSmoothing is over how many turns the time between turns is averaged,
	// and gapJump how many times that average one gap may count for.
	gapSmoothing, gapJump = 8, 4
)

// cusum is a one-sided cumulative sum in log·minutes.
type cusum struct {
	sum float64
	// gap is the smoothed time between turns in minutes, 0 before the second.
	// A turn counts for that time: ten that fail at once count little more
	// than one.
	gap float64
}

// add takes a turn with a log ratio, minutes after the turn before it.
func (c *cusum) add(x, minutes, limit float64) {
	c.elapse(minutes)
	x = min(max(x, -clip), clip)
	c.sum = min(max(0, c.sum+c.gap*(x-allowance)), overshoot*limit)
}

// elapse updates the time between turns. A pause of the prober says nothing of
// the deployment, so it does not count in full.
func (c *cusum) elapse(minutes float64) {
	switch {
	case minutes < 0 || math.IsNaN(minutes):
		return // a clock that went back
	case c.gap == 0:
		c.gap = min(minutes, 1)
	default:
		c.gap += (min(minutes, gapJump*c.gap) - c.gap) / gapSmoothing
	}
}

// limit is the limit for turns with a standard deviation of the logarithm.
func (c *cusum) limit(spread float64) float64 {
	return max(baseLimit, noiseLimit*spread*spread*c.gap)
}
