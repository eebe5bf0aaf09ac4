package baseline

import "time"

// Minute is the measurement of a signal in one minute.
type Minute struct {
	At time.Time
	// Turns is the number of values, Mean the mean of the natural logarithm of their seconds,
	// Baseline that of their baselines; NaN without a baseline.
	Turns          float64
	Mean, Baseline float64
}
