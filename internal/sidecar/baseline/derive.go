package baseline

import (
	"math"
	"slices"
	"time"
)

const (
	// seasonDays of entries are needed to tell a daily season from noise.
	seasonDays = 2
	// shapeStep is the time between computations of the shape, in half hours.
	shapeStep = slots / 4
	// recent entries determine the current level. The level falls only if the median of
	// longRecent entries falls, too: a quiet day is no new baseline, and the rise after it is
	// no regression.
	recent, longRecent = slots * 3 / 2, slots * 7
)

// derived is computed from the entries.
type derived struct {
	blocks  int
	samples int
	// level is the overall level.
	level float64
	// shape is nil before seasonDays.
	shape *shape
	// shaped is when shape was computed, in periods of six hours since 1970.
	shaped int32
	// noise is the standard deviation of half hours around the baseline, spread the standard
	// deviation of single turns within half hours.
	noise, spread float64
}

// derive computes the derived values from the entries up to a half hour. Medians let a holiday
// or a learned incident have no effect.
func (b *baseline) derive(now int32) {
	usual := make([]*entry, 0, entryCount)
	var variance, weight float64
	samples := 0
	b.each(now-entryCount, now, func(e *entry) {
		if !e.usual() {
			return
		}
		usual = append(usual, e)
		samples += int(e.n())
		variance += float64(e.variance) * float64(e.n())
		weight += float64(e.n())
	})
	if b.blocks = len(usual); b.blocks == 0 {
		b.derived = derived{}
		return
	}
	b.samples, b.spread = samples, math.Sqrt(variance/weight)
	if part := (now + 1) / shapeStep; b.blocks >= seasonDays*slots && part != b.shaped {
		b.shape, b.shaped = b.shapeOf(usual, b.spread), part
	}
	var all, current []float64 // without the shape; current since the level was accepted
	for _, e := range usual {
		v := float64(e.mean) - b.offsetOf(e.number)
		if all = append(all, v); e.number >= b.since {
			current = append(current, v)
		}
	}
	b.level, b.noise = b.accepted, noiseOf(all)
	if len(current) >= startBlocks || b.since == 0 {
		b.level = levelOf(current)
	}
}

// levelOf returns the current level: the median of the newest residuals, or the median of a
// week if that is higher.
func levelOf(residuals []float64) float64 {
	newestMedian := func(n int) float64 { return median(residuals[max(0, len(residuals)-n):]) }
	return max(newestMedian(recent), newestMedian(longRecent))
}

// noiseOf returns the standard deviation of residuals around the mean of their day, from the
// residuals below it, because learned faults only raise values.
func noiseOf(residuals []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range residuals {
		day := residuals[max(0, i-slots/2):min(len(residuals), i+slots/2)]
		if d := residuals[i] - mean(day); d <= 0 {
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum/max(1, n)) * (1 + 0.8/math.Sqrt(max(1, n)))
}

// pathStep is the distance, in half hours, between the past moments for which levels are
// recomputed: six hours.
const pathStep = 12

// path returns the baseline of past minutes, with today's shape and the level known at that
// minute; NaN before the first level.
func (b *baseline) path(now int32) func(minute int64) float64 {
	var before []float64
	levels := map[int32]float64{}
	last, since := int32(0), b.since
	b.each(now-entryCount, now, func(e *entry) {
		if since > 0 && e.number >= since { // earlier entries belong to the previous level
			before, since = nil, 0
		}
		if step := e.number / pathStep; step != last && len(before) >= startBlocks {
			for last = max(last+1, step-7*slots/pathStep); last < step; last++ {
				levels[last] = levelOf(before)
			}
			levels[step] = levelOf(before)
		}
		if e.usual() {
			before = append(before, float64(e.mean)-b.offsetOf(e.number))
		}
	})
	if len(before) >= startBlocks { // minutes since the last half hour
		levels[last+1] = levelOf(before)
	}
	return func(minute int64) float64 {
		number := int32(minute * 60 / int64(BlockLength/time.Second))
		level, ok := levels[number/pathStep]
		if b.since > 0 && number >= b.since && (!ok || number/pathStep == b.since/pathStep) {
			level, ok = b.accepted, true
		}
		if !ok {
			return math.NaN()
		}
		return level + b.shapeAt(time.Unix(minute*60+30, 0))
	}
}

func (b *baseline) at(t time.Time) float64 { return b.level + b.shapeAt(t) }

// median returns the median of v, which must not be empty.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
