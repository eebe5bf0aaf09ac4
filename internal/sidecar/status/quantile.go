package status

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
)

// Quantiles are nearest-rank quantiles of Count values: undefined if there are
// none.
type Quantiles struct {
	Count int      `json:"count"`
	P50   Duration `json:"p50_seconds"`
	P95   Duration `json:"p95_seconds"`
	P99   Duration `json:"p99_seconds"`
}

// quantiles sorts the values in place.
func quantiles(values []time.Duration) Quantiles {
	slices.Sort(values)
	return Quantiles{
		Count: len(values),
		P50:   nearestRank(values, 0.50),
		P95:   nearestRank(values, 0.95),
		P99:   nearestRank(values, 0.99),
	}
}

// nearestRank returns the smallest of the sorted values that at least a share
// q of them does not exceed.
func nearestRank(sorted []time.Duration, q float64) Duration {
	if len(sorted) == 0 {
		return Duration{}
	}
	// Without the small step back, 0.95 × 20 = 19.000000000000004 is rank 20.
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return Duration(probe.Some(sorted[max(rank, 1)-1]))
}
