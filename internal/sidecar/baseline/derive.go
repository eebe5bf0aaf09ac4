package baseline

import (
	"math"
	"slices"
	"time"
)

const (
	// seasonDays of entries are needed to tell a daily season from noise.
	seasonDays = 3
	// dayEntries are needed for the level of a day.
	dayEntries = 12
	// shapeStep is the time between computations of the shape, in half hours.
	shapeStep = slots / 4
	// newest is the number of days of a kind that determine its shape.
	newest = 10
	// recent entries determine the current level. The level falls only if the median of
	// longRecent entries falls, too: a quiet day is no new baseline, and the rise after it is
	// no regression.
	recent, longRecent = slots * 3 / 2, slots * 7
)

// derived is computed from the entries.
type derived struct {
	blocks  int
	samples int
	// level is the overall level, curve the offset of each half hour of weekdays and weekends.
	level float64
	curve [2][slots]float64
	// wide is how many times as much the level differs from day to day at a half hour as at the
	// median half hour; 0 is unknown.
	wide [2][slots]float64
	// scatter is how many times as much single turns differ at a half hour as overall; 0 is
	// unknown.
	scatter [2][slots]float64
	// shaped is when curve was computed, in periods of six hours since 1970.
	shaped int32
	// noise is the standard deviation of half hours around the baseline, spread the standard
	// deviation of single turns within half hours.
	noise, spread float64
}

// derive computes the derived values from the entries up to a half hour by median polish, so
// that a holiday or a learned incident has no effect.
func (b *baseline) derive(now int32) {
	p := polish{usual: make([]*entry, 0, entryCount), since: dayOf(b.since)}
	var variance, weight float64
	var d derived
	b.each(now-entryCount, now, func(e *entry) {
		if !e.usual() {
			return
		}
		p.usual = append(p.usual, e)
		d.samples += int(e.n())
		variance += float64(e.variance) * float64(e.n())
		weight += float64(e.n())
	})
	if d.blocks = len(p.usual); d.blocks == 0 {
		b.derived = d
		return
	}
	d.spread = math.Sqrt(variance / weight)
	d.curve, d.wide, d.scatter, d.shaped = b.curve, b.wide, b.scatter, b.shaped
	if part := (now + 1) / shapeStep; d.blocks >= seasonDays*slots && part != d.shaped {
		p.season()
		d.curve, d.wide, d.scatter, d.shaped = p.curve, p.wide(), p.scatter(d.spread), part
	}
	p.curve = d.curve
	residuals := p.residuals(b.since)
	d.level, d.noise = b.accepted, deviation(p.residuals(0))
	if len(residuals) >= startBlocks || b.since == 0 {
		d.level = levelOf(residuals)
	}
	b.derived = d
}

// levelOf returns the current level: the median of the newest residuals, or the median of a
// week if that is higher.
func levelOf(residuals []float64) float64 {
	newestMedian := func(n int) float64 { return Median(residuals[max(0, len(residuals)-n):]) }
	return max(newestMedian(recent), newestMedian(longRecent))
}

// deviation returns the standard deviation of residuals around the mean of their day, from the
// residuals below it, because learned faults only raise values.
func deviation(residuals []float64) float64 {
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
			before = append(before, float64(e.mean)-b.curveOf(e.number))
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

// shapeAt returns the offset of a time of day and kind of day. It interpolates between the
// middles of half hours, so that a steep morning does not look like a rise.
func (b *baseline) shapeAt(t time.Time) float64 {
	position := float64(t.Unix())/BlockLength.Seconds() - 0.5
	n := int32(math.Floor(position))
	share := position - float64(n)
	return (1-share)*b.curveOf(n) + share*b.curveOf(n+1)
}

// wideAt returns how many times more than usual the level moves at a time of day, at least 1.
func (b *baseline) wideAt(t time.Time) float64 {
	n := numberOf(t)
	return max(1, b.wide[weekend(dayOf(n))][n%slots])
}

// scatterAt returns how many times more than usual single turns differ at a time of day, at
// least 1.
func (b *baseline) scatterAt(t time.Time) float64 {
	if b == nil {
		return 1
	}
	n := numberOf(t)
	return max(1, b.scatter[weekend(dayOf(n))][n%slots])
}

func (b *baseline) curveOf(number int32) float64 {
	return b.curve[weekend(dayOf(number))][number%slots]
}

// polish splits entries into a level for each day, an offset for weekends and the shape of both
// kinds of day, by median polish (Tukey 1977).
type polish struct {
	usual []*entry
	// since is the first day of the current level.
	since int32
	days  map[int32]float64
	curve [2][slots]float64
}

// rounds of median polish. The result hardly changes after three.
const rounds = 3

func (p *polish) season() {
	for range rounds {
		p.days = p.dayLevels()
		p.shape()
	}
	p.shrink()
	p.weekends()
}

// dayLevels returns the level of each day: the median of its entries without their shape.
func (p *polish) dayLevels() map[int32]float64 {
	values := map[int32][]float64{}
	for _, e := range p.usual {
		day := dayOf(e.number)
		values[day] = append(values[day], float64(e.mean)-p.curve[weekend(day)][e.number%slots])
	}
	out := map[int32]float64{}
	for day, v := range values {
		if len(v) >= dayEntries {
			out[day] = Median(v)
		}
	}
	return out
}

// deviations returns the differences of entries from the level of their day, by kind of day and
// slot.
func (p *polish) deviations() (out [2][slots][]float64) {
	for _, e := range p.usual {
		day := dayOf(e.number)
		if level, ok := p.days[day]; ok {
			k, s := weekend(day), e.number%slots
			out[k][s] = append(out[k][s], float64(e.mean)-level)
		}
	}
	return out
}

// shape computes the offset of each half hour: the median over the days.
func (p *polish) shape() {
	for k, slots := range p.deviations() {
		for s, v := range slots {
			p.curve[k][s] = 0
			if len(v) > 0 {
				p.curve[k][s] = Median(v[max(0, len(v)-newest):])
			}
		}
	}
}

// shrink pulls the shape of weekdays towards zero, and the shape of weekends towards weekdays,
// by the share of the variance that chance explains (empirical Bayes).
func (p *polish) shrink() {
	all := p.deviations()
	p.curve[0] = shrunk(p.curve[0], [slots]float64{}, all[0])
	p.curve[1] = shrunk(p.curve[1], p.curve[0], all[1])
}

func shrunk(curve, towards [slots]float64, deviations [slots][]float64) [slots]float64 {
	noise, between, inverse, used, repeated := 0.0, 0.0, 0.0, 0.0, 0.0
	for s, v := range deviations {
		if len(v) == 0 {
			continue
		}
		for _, x := range v {
			noise += (x - curve[s]) * (x - curve[s])
		}
		repeated += float64(len(v) - 1)
		between += (curve[s] - towards[s]) * (curve[s] - towards[s])
		inverse += 1 / float64(len(v))
		used++
	}
	if used < 2 || repeated < 1 {
		return towards
	}
	noise /= repeated
	signal := max(0, between/used-noise*inverse/used)
	for s, v := range deviations {
		out := 0.0
		if n := float64(len(v)); n > 0 && signal > 0 {
			out = (curve[s] - towards[s]) * signal / (signal + noise/n)
		}
		curve[s] = towards[s] + out
	}
	return curve
}

// weekends adds the distance between weekends and the weekdays around them to the shape of
// weekends.
func (p *polish) weekends() {
	p.days = p.dayLevels()
	var offsets []float64
	for day, level := range p.days {
		if weekend(day) == 0 {
			continue
		}
		var near []float64
		for d := day - 5; d <= day+5; d++ {
			if l, ok := p.days[d]; ok && weekend(d) == 0 && (d < p.since) == (day < p.since) {
				near = append(near, l)
			}
		}
		if len(near) > 0 {
			offsets = append(offsets, level-Median(near))
		}
	}
	if len(offsets) == 0 {
		return
	}
	offset := Median(offsets)
	for s := range p.curve[1] {
		p.curve[1][s] += offset
	}
	p.days = p.dayLevels()
}

const (
	// around is the number of neighbouring half hours on each side whose differences count for
	// a half hour, leastAround the number of differences needed.
	around, leastAround = 3, 20
	widest              = 8
)

// wide returns how much the level differs from day to day at each half hour, divided by the
// median of all half hours.
func (p *polish) wide() (out [2][slots]float64) {
	var all []float64
	deviations := p.deviations()
	for k := range deviations {
		for s := range deviations[k] {
			var near []float64
			for i := s - around; i <= s+around; i++ {
				near = append(near, pooled(deviations, k, (i+slots)%slots)...)
			}
			if len(near) >= leastAround {
				out[k][s] = math.Hypot(spreadOf(near)*(1+1/math.Sqrt(float64(len(deviations[k][s])+1))), p.slope(k, s))
				all = append(all, out[k][s])
			}
		}
	}
	if len(all) == 0 {
		return out
	}
	usual := Median(all)
	if usual == 0 { // all days are equal
		return [2][slots]float64{}
	}
	for k := range out {
		for s := range out[k] {
			out[k][s] = min(out[k][s]/usual, widest)
		}
	}
	return out
}

// scatter returns the spread of single turns at each time of day relative to the spread of all.
func (p *polish) scatter(spread float64) (out [2][slots]float64) {
	var variance, turns [2][slots]float64
	for _, e := range p.usual {
		k, s := weekend(dayOf(e.number)), e.number%slots
		for _, i := range []int32{s + slots - 1, s, s + 1} {
			variance[k][i%slots] += float64(e.variance) * float64(e.n())
			turns[k][i%slots] += float64(e.n())
		}
	}
	for k := range out {
		for s, n := range turns[k] {
			if n > 0 && spread > 0 {
				out[k][s] = math.Sqrt(variance[k][s]/n) / spread
			}
		}
	}
	return out
}

// slope returns how much the shape changes within half an hour: people begin and end their days
// by about that much earlier or later.
func (p *polish) slope(kind, slot int) float64 {
	at := func(s int) float64 { return p.curve[kind][(s+slots)%slots] }
	return max(math.Abs(at(slot)-at(slot-1)), math.Abs(at(slot+1)-at(slot)))
}

// Weekends and weekdays whose medians differ by less than likeShape, as a log ratio, are
// pooled.
const likeShape = 0.2

// pooled returns the deviations at a time of day from their median, for the kind of day, and for
// the other kind if it is similar.
func pooled(deviations [2][slots][]float64, kind, slot int) (out []float64) {
	own, other := deviations[kind][slot], deviations[1-kind][slot]
	if len(own) == 0 {
		return nil
	}
	add := func(v []float64) {
		for _, x := range v {
			out = append(out, x-Median(v))
		}
	}
	add(own)
	if len(other) > 0 && math.Abs(Median(other)-Median(own)) < likeShape {
		add(other)
	}
	return out
}

// spreadOf returns the standard deviation of deviations, or of the negative ones alone if that
// is larger, because the highest values were not learned.
func spreadOf(deviations []float64) float64 {
	sum, below, n := 0.0, 0.0, 0.0
	for _, d := range deviations {
		sum += d * d
		if d < 0 {
			below += d * d
			n++
		}
	}
	return math.Sqrt(max(sum/float64(len(deviations)), below/max(1, n)))
}

// residuals returns the entries since a half hour without their season, oldest first.
func (p *polish) residuals(since int32) []float64 {
	var out []float64
	for _, e := range p.usual {
		if e.number >= since {
			out = append(out, float64(e.mean)-p.curve[weekend(dayOf(e.number))][e.number%slots])
		}
	}
	return out
}

// Median returns the median of v, which must not be empty.
func Median(v []float64) float64 {
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
