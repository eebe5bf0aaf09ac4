package serverside

import (
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Summary holds the metrics of one endpoint of the deployment for an interval.
type Summary struct {
	Source   string   `json:"source"`   // the endpoint, such as "http://frontend:8000/metrics"
	Families []string `json:"families"` // the metric families that were found
	// Figures by the names below; missing ones are absent.
	Figures map[string]float64 `json:"figures"`
}

// Figures with a title and unit in reports. Reports print other names unchanged.
const (
	KVHitRatio      = "kv_hit_ratio"         // cached / prompt tokens, 0 … 1
	KVUsageMean     = "kv_usage_mean"        // share of the KV cache in use, 0 … 1
	KVUsageMax      = "kv_usage_max"         // likewise
	QueueMean       = "queue_mean"           // requests waiting
	QueueMax        = "queue_max"            // requests waiting
	RunningMean     = "running_mean"         // requests running
	RunningMax      = "running_max"          // requests running
	SpecDrafted     = "spec_drafted_tokens"  // tokens drafted over the snapshot
	SpecAccepted    = "spec_accepted_tokens" // of them accepted
	SpecAcceptance  = "spec_acceptance"      // accepted / drafted, 0 … 1
	OutputPerSecond = "output_tokens_per_second"
	PromptPerSecond = "prompt_tokens_per_second"
	TTFTMean        = "ttft_mean_seconds"
	TTFTP50         = "ttft_p50_seconds"
	TTFTP95         = "ttft_p95_seconds"
	ITLMean         = "itl_mean_seconds"
	ITLP50          = "itl_p50_seconds"
	ITLP95          = "itl_p95_seconds"
	GPUUse          = "gpu_use_mean"    // utilisation of the GPUs, 0 … 1
	GPUPower        = "gpu_power_watts" // of all GPUs of the page, mean
)

// Suffixes of the name of a quantile of which the server's histogram shows only a bound.
const (
	AtMost = "_at_most" // it lies in the first bucket
	Above  = "_above"   // it lies in the last bucket
)

// Summarise summarises an interval of one endpoint. The first and the last sample are its ends. Samples in between only
// add to the gauges. With fewer than two samples it returns only the families.
func Summarise(url string, samples []Sample) Summary {
	s := summary{all: samples, figures: map[string]float64{}}
	var families []string
	for _, sample := range samples {
		families = append(families, sample.Families...)
	}
	slices.Sort(families)
	if len(samples) >= 2 {
		s.first, s.last = samples[0], samples[len(samples)-1]
		s.seconds = s.last.At.Sub(s.first.At).Seconds()
		s.addRates()
		s.addHitRatio()
		s.addSpeculation()
		s.addGauges()
		s.addGPUs()
		s.addLatencies()
	}
	// Some gauges are NaN without traffic. JSON cannot encode NaN, so it would prevent the run from being saved.
	maps.DeleteFunc(s.figures, func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	return Summary{Source: url, Families: slices.Compact(families), Figures: s.figures}
}

// summary collects figures. It omits unknown ones.
type summary struct {
	first, last Sample
	all         []Sample
	seconds     float64
	figures     map[string]float64
}

func (s *summary) add(name string, v float64, known bool) {
	if known {
		s.figures[name] = v
	}
}

// growth returns the increase of a counter over the interval. It returns false if the counter
// is missing at one end, or fell because the server restarted.
func (s *summary) growth(r role) (float64, bool) {
	before, ok := s.first.values[r]
	after, still := s.last.values[r]
	highest := before
	for _, sample := range s.all {
		v, exists := sample.values[r]
		if exists && v < highest {
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
	return a / b, ok && known && b != 0
}

// gauge returns the mean and the maximum of a gauge.
func (s *summary) gauge(r role) (mean, highest float64, ok bool) {
	n := 0.0
	for _, sample := range s.all {
		if v, exists := sample.values[r]; exists {
			mean, highest, n = mean+v, max(highest, v), n+1
		}
	}
	return mean / n, highest, n > 0
}

func (s *summary) addRates() {
	for name, r := range map[string]role{OutputPerSecond: outputTokens, PromptPerSecond: promptTokens} {
		n, ok := s.growth(r)
		s.add(name, n/s.seconds, ok && s.seconds > 0)
	}
}

// addHitRatio uses the most accurate source that exists. A quotient above 1 is no ratio.
func (s *summary) addHitRatio() {
	for _, of := range [][2]role{{cachedTokens, promptTokens}, {cacheHits, cacheQueries}} {
		if v, ok := s.quotient(of[0], of[1]); ok && v <= 1 {
			s.figures[KVHitRatio] = v
			return
		}
	}
	v, _, ok := s.gauge(hitRate)
	if !ok {
		v, ok = s.quotient(hitRates, hitRequests)
		v = ratio(v)
	}
	s.add(KVHitRatio, v, ok)
}

func (s *summary) addSpeculation() {
	d, ok := s.growth(drafted)
	a, known := s.growth(accepted)
	if !ok || !known {
		v, _, ok := s.gauge(acceptance)
		s.add(SpecAcceptance, v, ok)
		return
	}
	s.figures[SpecDrafted], s.figures[SpecAccepted] = d, a
	s.add(SpecAcceptance, a/d, d > 0)
}

func (s *summary) addGauges() {
	for _, g := range []struct {
		role          role
		mean, highest string
	}{
		{kvUsage, KVUsageMean, KVUsageMax},
		{unanswered, QueueMean, QueueMax},
		{waiting, QueueMean, QueueMax}, // replaces unanswered
		{running, RunningMean, RunningMax},
	} {
		mean, highest, ok := s.gauge(g.role)
		s.add(g.mean, mean, ok)
		s.add(g.highest, highest, ok)
	}
}

// addGPUs adds the figures of all GPUs. Power comes from the used energy, which includes the time
// between samples, or else from the mean of the readings.
func (s *summary) addGPUs() {
	use, _, ok := s.gauge(gpuUse)
	s.add(GPUUse, use, ok)
	power, _, ok := s.gauge(gpuPower)
	if millijoules, known := s.growth(gpuEnergy); known && millijoules > 0 && s.seconds > 0 {
		power, ok = millijoules/1000/s.seconds, true
	}
	s.add(GPUPower, power, ok)
}

// addLatencies adds means, which are exact, and quantiles as accurate as the server's buckets.
func (s *summary) addLatencies() {
	for _, h := range []struct {
		role           role
		mean, p50, p95 string
	}{
		{ttft, TTFTMean, TTFTP50, TTFTP95},
		{itl, ITLMean, ITLP50, ITLP95},
	} {
		sum, ok := s.growth(h.role)
		buckets := grown(s.first.buckets[h.role], s.last.buckets[h.role])
		if !ok || buckets == nil {
			continue
		}
		s.add(h.mean, sum/buckets[len(buckets)-1].count, sum > 0) // 0: the page has no sum
		for q, name := range map[float64]string{0.5: h.p50, 0.95: h.p95} {
			suffix, v := quantile(q, buckets)
			s.figures[name+suffix] = v
		}
	}
}

// bucket counts the values up to a bound.
type bucket struct{ upTo, count float64 }

// bucketsOf adds up the cumulative buckets of a histogram's series, by bound.
func bucketsOf(mf *dto.MetricFamily) []bucket {
	counts := map[float64]float64{}
	for _, m := range mf.Metric {
		h := m.GetHistogram()
		for _, b := range h.GetBucket() {
			counts[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
		if n := len(h.GetBucket()); n == 0 || !math.IsInf(h.GetBucket()[n-1].GetUpperBound(), 1) {
			counts[math.Inf(1)] += float64(h.GetSampleCount())
		}
	}
	var out []bucket
	for _, bound := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, bucket{bound, counts[bound]})
	}
	return out
}

// grown returns the increases of buckets between two scrapes; nil if nothing grew, the bounds
// changed or the server restarted.
func grown(before, after []bucket) []bucket {
	if len(before) != len(after) {
		return nil
	}
	out := make([]bucket, len(after))
	for i := range after {
		out[i] = bucket{after[i].upTo, after[i].count - before[i].count}
		if after[i].upTo != before[i].upTo || out[i].count < 0 {
			return nil
		}
	}
	if len(out) == 0 || out[len(out)-1].count == 0 {
		return nil
	}
	return out
}

// quantile estimates a quantile by interpolation within a bucket, as PromQL does. In the first and the last bucket,
// which have one bound only, it returns that bound and the suffix that says so: interpolation from 0 would give 5 ms
// for any values below a first bound of 10 ms. Without such a bound it returns NaN.
func quantile(q float64, buckets []bucket) (suffix string, v float64) {
	last := len(buckets) - 1
	rank := q * buckets[last].count
	i := slices.IndexFunc(buckets, func(b bucket) bool { return b.count >= rank })
	switch {
	case i == last && i == 0:
		return "", math.NaN()
	case i == last:
		return Above, buckets[i-1].upTo
	case i == 0:
		return AtMost, buckets[i].upTo
	}
	below, b := buckets[i-1], buckets[i]
	return "", below.upTo + (b.upTo-below.upTo)*(rank-below.count)/(b.count-below.count)
}
