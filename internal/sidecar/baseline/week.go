package baseline

import (
	"math"
	"time"
)

// weekSlots is the number of half hours in a week.
const weekSlots = 7 * slots

// shape is what the level usually does within a week of the target's time zone.
type shape struct {
	// offset of each half hour of the week, from Sunday 00:00 on, as log ratio to the level.
	offset [weekSlots]float32
	// spread is the standard deviation around the offset at each half hour of the day, typical
	// their median.
	spread  [slots]float32
	typical float32
	// scatter is how many times as much single turns differ at a half hour of the day as
	// overall; 0 is unknown.
	scatter [slots]float32
}

const (
	// newest is the number of days that determine the shape of a day.
	newest = 10
	// leastWeeks is the number of days of one weekday that can differ from the other weekdays.
	// One day may be a holiday or have a fault.
	leastWeeks = 2
	// rounds of median polish. The result hardly changes after two.
	rounds = 2
	// around is the number of neighbouring half hours on each side whose spread counts for a
	// half hour.
	around = 3
	widest = 8
	// An offset counts if it is larger than clearly times its standard deviation.
	clearly = 3
)

// cellOf returns the half hour of the local week in which a half hour begins.
func (b *baseline) cellOf(number int32) int {
	at := startOf(number)
	if b.zone != nil {
		at = at.In(b.zone)
	}
	return int(at.Weekday())*slots + at.Hour()*2 + at.Minute()/30
}

// deviation is how far a half hour lies from the trend.
type deviation struct {
	*entry
	cell  int
	trend float64
}

func (d *deviation) value() float64 { return float64(d.mean) - d.trend }

// shapeOf computes the shape of a week by median polish (Tukey 1977): it alternates between a
// trend and the offsets. turnSpread is the overall standard deviation of single turns.
func (b *baseline) shapeOf(usual []*entry, turnSpread float64) *shape {
	all := make([]deviation, len(usual))
	for i, e := range usual {
		all[i] = deviation{entry: e, cell: b.cellOf(e.number)}
	}
	s := &shape{}
	trendOver(all, s, 7) // a whole week has each part of a week once
	for range rounds {
		s.fit(all)
		trendOver(all, s, 1)
	}
	s.measureSpread(all)
	s.measureScatter(usual, all, turnSpread)
	return s
}

// trendOver sets the trend of each entry: the median of the days around it, without the offsets.
func trendOver(all []deviation, s *shape, days int32) {
	values := make([]float64, 0, days*slots)
	first, last := dayOf(all[0].number), dayOf(all[len(all)-1].number)
	from, to := 0, 0
	for i := 0; i < len(all); {
		day := dayOf(all[i].number)
		begin := max(first, min(day-days/2, last-days+1))
		for ; dayOf(all[from].number) < begin; from++ {
		}
		for to = max(to, from); to < len(all) && dayOf(all[to].number) < begin+days; to++ {
		}
		values = values[:0]
		for _, d := range all[from:to] {
			values = append(values, float64(d.mean)-float64(s.offset[d.cell]))
		}
		for trend := median(values); i < len(all) && dayOf(all[i].number) == day; i++ {
			all[i].trend = trend
		}
	}
}

// fit computes the offsets: the shape that all days have in common, and how each weekday differs
// from it. What chance may explain is left out.
func (s *shape) fit(all []deviation) {
	var bySlot [slots][]float64
	var byCell [weekSlots][]float64
	for i := range all {
		v := all[i].value()
		bySlot[all[i].cell%slots] = append(bySlot[all[i].cell%slots], v)
		byCell[all[i].cell] = append(byCell[all[i].cell], v)
	}
	var common [slots]float64
	for i, v := range bySlot {
		if len(v) > 0 {
			common[i] = median(v[max(0, len(v)-newest):])
		}
	}
	var noise [slots]float64
	for i := range bySlot {
		var near []float64
		for j := i - around; j <= i+around; j++ {
			n := (j + slots) % slots
			for _, x := range bySlot[n] {
				near = append(near, math.Abs(x-common[n]))
			}
		}
		if len(near) > 0 {
			noise[i] = 1.48 * median(near) // the standard deviation of a normal distribution
		}
	}
	var own [weekSlots]float64
	for c, v := range byCell {
		common[c%slots] = significant(common[c%slots], noise[c%slots], min(newest, len(bySlot[c%slots])))
		for k := range v {
			v[k] -= common[c%slots]
		}
		own[c] = agreed(v)
	}
	for c, v := range byCell {
		// Neighbours are averaged: three half hours differ less by chance than one.
		smooth := (own[(c+weekSlots-1)%weekSlots] + own[c] + own[(c+1)%weekSlots]) / 3
		s.offset[c] = float32(common[c%slots] + significant(smooth, noise[c%slots], 3*len(v)))
	}
}

// agreed returns what the deviations of one half hour of the week agree on: their median. Of two
// it is the one closer to 0, and 0 if they contradict each other.
func agreed(v []float64) float64 {
	switch {
	case len(v) < leastWeeks || len(v) == 2 && v[0]*v[1] < 0:
		return 0
	case len(v) == 2 && math.Abs(v[0]) < math.Abs(v[1]):
		return v[0]
	case len(v) == 2:
		return v[1]
	}
	return median(v)
}

// significant returns a median of n values with a standard deviation of noise, or 0 if chance explains
// it.
func significant(v, noise float64, n int) float64 {
	if n == 0 || math.Abs(v) < clearly*noise/math.Sqrt(float64(n)) {
		return 0
	}
	return v
}

// measureSpread computes how much the level differs at each half hour of the day, and the median of
// these.
func (s *shape) measureSpread(all []deviation) {
	var bySlot [slots][]float64
	for i := range all {
		n := all[i].cell % slots
		bySlot[n] = append(bySlot[n], all[i].value()-float64(s.offset[all[i].cell]))
	}
	var known []float64
	for i := range bySlot {
		var near []float64
		for j := i - around; j <= i+around; j++ {
			near = append(near, bySlot[(j+slots)%slots]...)
		}
		if len(near) > 0 {
			s.spread[i] = float32(spreadOf(near) * (1 + 1/math.Sqrt(float64(len(bySlot[i])+1))))
			known = append(known, float64(s.spread[i]))
		}
	}
	if len(known) > 0 {
		s.typical = float32(median(known))
	}
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

// measureScatter computes the spread of single turns at each half hour of the day relative to
// their overall spread.
func (s *shape) measureScatter(usual []*entry, all []deviation, turnSpread float64) {
	var variance, turns [slots]float64
	for k, e := range usual {
		i := all[k].cell % slots
		for _, j := range []int{i + slots - 1, i, i + 1} {
			variance[j%slots] += float64(e.variance) * float64(e.n())
			turns[j%slots] += float64(e.n())
		}
	}
	for i, n := range turns {
		if n > 0 && turnSpread > 0 {
			s.scatter[i] = float32(math.Sqrt(variance[i]/n) / turnSpread)
		}
	}
}

// shapeAt returns the offset at a time. It interpolates between the middles of half hours, so
// that a steep morning does not look like a rise.
func (b *baseline) shapeAt(t time.Time) float64 {
	position := float64(t.Unix())/BlockLength.Seconds() - 0.5
	n := int32(math.Floor(position))
	share := position - float64(n)
	return (1-share)*b.offsetOf(n) + share*b.offsetOf(n+1)
}

func (b *baseline) offsetOf(number int32) float64 {
	if b.shape == nil {
		return 0
	}
	return float64(b.shape.offset[b.cellOf(number)])
}

// wideAt returns how many times more than usual the level moves at a time of day, at least 1. It
// moves more where days differ from each other, and where the shape is steep: people begin and
// end their days half an hour earlier or later.
func (b *baseline) wideAt(t time.Time) float64 {
	if b.shape == nil || b.shape.typical == 0 {
		return 1
	}
	c := b.cellOf(numberOf(t))
	at := func(i int) float64 { return float64(b.shape.offset[(i+weekSlots)%weekSlots]) }
	slope := math.Abs(at(c+1)-at(c-1)) / 2
	return min(widest, max(1, math.Hypot(float64(b.shape.spread[c%slots]), slope)/float64(b.shape.typical)))
}

// scatterAt returns how many times more than usual single turns differ at a time of day, at
// least 1.
func (b *baseline) scatterAt(t time.Time) float64 {
	if b == nil || b.shape == nil {
		return 1
	}
	return max(1, float64(b.shape.scatter[b.cellOf(numberOf(t))%slots]))
}
