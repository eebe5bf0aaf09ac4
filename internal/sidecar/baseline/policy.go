package baseline

import "time"

// Minute is what was measured of a signal in a minute.
type Minute struct {
	At time.Time
	// Turns is how many values there were, Mean the mean of the natural
	// logarithm of their seconds, Baseline that of what they were compared with;
	// NaN where there was nothing to compare with.
	Turns          float64
	Mean, Baseline float64
}
