package regression

import "time"

// Benchmarks are by index of probe.TurnKinds and of Signals.
type Benchmarks [kinds][signals]Benchmark

// Benchmark is what a benchmark run measured of a signal. The zero value is
// none.
type Benchmark struct {
	// Typical is the geometric mean, which stands in for the learned baseline; 0
	// where it is not known, and the baseline is learned.
	Typical time.Duration
	// Quantiles, by index of the function of that name, are to be shown beside
	// the live ones; 0 where too few turns were measured to tell.
	Quantiles [quantiles]time.Duration
	// Samples is how many turns it stands on; 0 where that is not known.
	Samples int
	// Noise is the standard deviation of the logarithm of the 30-minute level;
	// 0 leaves it to be learned.
	Noise float64
}

const quantiles = 3

// Quantiles lists those of a Benchmark.
func Quantiles() []float64 { return []float64{0.5, 0.95, 0.99} }
