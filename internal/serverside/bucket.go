package serverside

import (
	"cmp"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// bucket counts the values up to a bound.
type bucket struct {
	upTo  float64
	count float64
}

// bucketsOf adds up the cumulative buckets of a histogram's series, by bound.
func bucketsOf(mf *dto.MetricFamily) []bucket {
	at := map[float64]float64{}
	for _, m := range mf.Metric {
		h := m.GetHistogram()
		for _, b := range h.GetBucket() {
			at[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
		if n := len(h.GetBucket()); n == 0 || !math.IsInf(h.GetBucket()[n-1].GetUpperBound(), 1) {
			at[math.Inf(1)] += float64(h.GetSampleCount())
		}
	}
	out := make([]bucket, 0, len(at))
	for bound, n := range at {
		out = append(out, bucket{bound, n})
	}
	slices.SortFunc(out, func(a, b bucket) int { return cmp.Compare(a.upTo, b.upTo) })
	return out
}

// grown is what came into the buckets between two scrapes; nil when nothing
// did, when the bounds changed or when the server restarted.
func grown(before, after []bucket) []bucket {
	if len(before) != len(after) || len(after) == 0 {
		return nil
	}
	out := make([]bucket, len(after))
	for i := range after {
		out[i] = bucket{after[i].upTo, after[i].count - before[i].count}
		if after[i].upTo != before[i].upTo || out[i].count < 0 {
			return nil
		}
	}
	if out[len(out)-1].count == 0 {
		return nil
	}
	return out
}

// quantile estimates a quantile as PromQL does, evenly within a bucket. It is
// false where the value lies beyond the last bound.
func quantile(q float64, buckets []bucket) (float64, bool) {
	if len(buckets) == 0 {
		return 0, false
	}
	rank := q * buckets[len(buckets)-1].count
	low, below := 0.0, 0.0
	for _, b := range buckets {
		if b.count >= rank {
			if math.IsInf(b.upTo, 1) {
				return 0, false
			}
			if b.count == below {
				return b.upTo, true
			}
			return low + (b.upTo-low)*(rank-below)/(b.count-below), true
		}
		low, below = b.upTo, b.count
	}
	return 0, false
}
