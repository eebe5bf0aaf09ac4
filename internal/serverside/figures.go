package serverside

import (
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/study/runfile"
)

// Summarise summarises an interval of one endpoint. The first and the last sample are its ends;
// those between add to the gauges. With fewer than two samples it only returns the families.
func Summarise(url string, samples []Sample) runfile.Server {
	s := summary{figures: map[string]float64{}}
	var families []string
	for _, sample := range samples {
		families = append(families, sample.Families...)
	}
	slices.Sort(families)
	if len(samples) >= 2 {
		s.first, s.last, s.all = samples[0], samples[len(samples)-1], samples
		s.rates()
		s.cache()
		s.speculation()
		s.gauges()
		s.gpus()
		s.latencies()
	}
	// Some gauges are NaN without traffic. JSON cannot encode NaN, so it would prevent the run
	// from being saved.
	maps.DeleteFunc(s.figures, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	return runfile.Server{Source: url, Families: slices.Compact(families), Figures: s.figures}
}

// summary collects figures. Unknown figures stay absent.
type summary struct {
	first, last Sample
	all         []Sample
	figures     map[string]float64
}

// growth returns the increase of a counter over the interval. It returns false if the counter
// is missing at one end, or fell because the server restarted.
func (s *summary) growth(r role) (float64, bool) {
	before, ok := s.first.values[r]
	after, still := s.last.values[r]
	highest := before
	for _, sample := range s.all {
		v, there := sample.values[r]
		if there && v < highest {
			return 0, false
		}
		highest = max(highest, v)
	}
	return after - before, ok && still
}

// quotient returns the quotient of two increases, and false if the divisor did not grow.
func (s *summary) quotient(over, under role) (float64, bool) {
	a, ok := s.growth(over)
	b, known := s.growth(under)
	if !ok || !known || b == 0 {
		return 0, false
	}
	return a / b, true
}

func (s *summary) rates() {
	seconds := s.last.At.Sub(s.first.At).Seconds()
	for name, r := range map[string]role{runfile.ServerOutputPerSecond: outputTokens, runfile.ServerPromptPerSecond: promptTokens} {
		if n, ok := s.growth(r); ok && seconds > 0 {
			s.figures[name] = n / seconds
		}
	}
}

// cache uses the best available source of the hit ratio.
func (s *summary) cache() {
	v, ok := s.quotient(cachedTokens, promptTokens)
	if !ok {
		v, ok = s.quotient(cacheHits, cacheQueries)
	}
	if !ok {
		v, _, ok = s.gauge(hitRate)
	}
	if !ok {
		v, ok = s.quotient(hitRates, hitRequests)
		v = ratio(v)
	}
	if ok {
		s.figures[runfile.ServerKVHitRatio] = v
	}
}

func (s *summary) speculation() {
	d, ok := s.growth(drafted)
	a, known := s.growth(accepted)
	if ok && known {
		s.figures[runfile.ServerSpecDrafted], s.figures[runfile.ServerSpecAccepted] = d, a
		if d > 0 {
			s.figures[runfile.ServerSpecAcceptance] = a / d
		}
		return
	}
	if v, _, ok := s.gauge(acceptance); ok {
		s.figures[runfile.ServerSpecAcceptance] = v
	}
}

func (s *summary) gauges() {
	for r, names := range map[role][2]string{
		kvUsage: {runfile.ServerKVUsageMean, runfile.ServerKVUsageMax},
		waiting: {runfile.ServerQueueMean, runfile.ServerQueueMax},
		running: {runfile.ServerRunningMean, runfile.ServerRunningMax},
	} {
		if mean, most, ok := s.gauge(r); ok {
			s.figures[names[0]], s.figures[names[1]] = mean, most
		}
	}
}

// gpus adds the figures of all GPUs. Power comes from the used energy, which includes the time
// between samples, or else from the mean of the readings.
func (s *summary) gpus() {
	if v, _, ok := s.gauge(gpuUse); ok {
		s.figures[runfile.ServerGPUUse] = v
	}
	seconds := s.last.At.Sub(s.first.At).Seconds()
	if used, ok := s.growth(gpuEnergy); ok && used > 0 && seconds > 0 {
		s.figures[runfile.ServerGPUPower] = used / 1000 / seconds
	} else if mean, _, ok := s.gauge(gpuPower); ok {
		s.figures[runfile.ServerGPUPower] = mean
	}
}

func (s *summary) gauge(r role) (mean, most float64, ok bool) {
	n := 0.0
	for _, sample := range s.all {
		if v, there := sample.values[r]; there {
			mean, most, n = mean+v, max(most, v), n+1
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	return mean / n, most, true
}

func (s *summary) latencies() {
	for _, h := range []struct {
		role role
		q    float64
		name string
	}{
		{ttft, 0.5, runfile.ServerTTFTP50}, {ttft, 0.95, runfile.ServerTTFTP95},
		{itl, 0.5, runfile.ServerITLP50}, {itl, 0.95, runfile.ServerITLP95},
	} {
		if v, ok := quantile(h.q, grown(s.first.buckets[h.role], s.last.buckets[h.role])); ok {
			s.figures[h.name] = v
		}
	}
}

// bucket counts the values up to a bound.
type bucket struct{ upTo, count float64 }

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
	var out []bucket
	for _, bound := range slices.Sorted(maps.Keys(at)) {
		out = append(out, bucket{bound, at[bound]})
	}
	return out
}

// grown returns the increases of buckets between two scrapes; nil if nothing grew, the bounds
// changed or the server restarted.
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

// quantile estimates a quantile by interpolation within a bucket, as PromQL does. It returns
// false beyond the last bound.
func quantile(q float64, buckets []bucket) (float64, bool) {
	if len(buckets) == 0 {
		return 0, false
	}
	rank := q * buckets[len(buckets)-1].count
	i := slices.IndexFunc(buckets, func(b bucket) bool { return b.count >= rank })
	b, below := buckets[i], bucket{}
	if i > 0 {
		below = buckets[i-1]
	}
	switch {
	case math.IsInf(b.upTo, 1):
		return 0, false
	case b.count == below.count:
		return b.upTo, true
	}
	return below.upTo + (b.upTo-below.upTo)*(rank-below.count)/(b.count-below.count), true
}
