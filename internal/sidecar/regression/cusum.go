package regression

import "math"

// The CUSUM grows by the logarithm of the ratio to the baseline less an
// allowance, per minute, and never falls below 0. Thresholds were chosen by
// replay; docs/background/alert-quality.md has the figures.
const (
	// maxAllowance is the log ratio that is let pass for ever: e^0.40 is 1.49.
	// A steady signal is allowed less, noiseAllowance times the noise of its
	// level, but at least minAllowance.
	maxAllowance, minAllowance, noiseAllowance = 0.40, 0.15, 7
	// baseLimit is the limit in log·minutes where turns are plenty: 3 times the
	// baseline reaches it in 1.9 minutes, 2 times in 4.4.
	baseLimit = 1.3
	// noiseLimit scales the limit where turns are few or noisy. A random walk
	// of variance v per minute under an allowance a exceeds h with a chance of
	// about e^(−2ah/v) each time it leaves 0; h = 7v/a makes it e^−14.
	noiseLimit = 14.0 / 2
	// outlierLimit is how many turns at the clip do not reach the limit: one
	// outlier is no regression, nor are two where turns are few.
	outlierLimit = 2.5
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

// bounds are the allowance and the limit of a CUSUM.
type bounds struct{ allowance, limit float64 }

// add takes a turn with a log ratio, minutes after the turn before it.
func (c *cusum) add(x, minutes float64, b bounds) {
	c.elapse(minutes)
	x = min(max(x, -clip), clip)
	c.sum = min(max(0, c.sum+c.gap*(x-b.allowance)), overshoot*b.limit)
}

// elapse updates the time between turns. A pause of the prober says nothing of
// the deployment, so it does not count in full; a minute does, or turns that
// end together would make the average vanish.
func (c *cusum) elapse(minutes float64) {
	switch {
	case minutes < 0 || math.IsNaN(minutes):
		return // a clock that went back
	case c.gap == 0:
		c.gap = min(minutes, 1)
	default:
		c.gap += (min(minutes, max(1, gapJump*c.gap)) - c.gap) / gapSmoothing
	}
}

// bounds are those for turns whose logarithm has a standard deviation spread
// around a level with the standard deviation noise.
func (c *cusum) bounds(spread, noise float64) bounds {
	a := min(max(minAllowance, noiseAllowance*noise), maxAllowance)
	return bounds{a, max(baseLimit, noiseLimit*spread*spread*c.gap/a, outlierLimit*(clip-a)*c.gap)}
}
