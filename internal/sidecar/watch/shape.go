package watch

import (
	"math"
	"time"
)

// shape has the difference of each half hour from the level, as a logarithm: first for working days, then for free days.
type shape [2 * slots]float32

const (
	// newestDays determine the shape of a day.
	newestDays = 10
	// around is the number of half hours on each side that count for the scatter of one.
	around = 3
)

// cellOf returns the cell of a half hour in a time zone; nil means UTC.
func cellOf(number int32, zone *time.Location) int {
	at := startOf(number)
	if zone != nil {
		at = at.In(zone)
	}
	cell := at.Hour()*2 + at.Minute()/30
	if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
		cell += slots
	}
	return cell
}

// point is a half hour without the trend of its days.
type point struct {
	*entry
	cell  int
	trend float64
}

func (p *point) value() float64 { return float64(p.Mean) - p.trend }

// shapeOf computes a shape by median polish (Tukey 1977): the trend of the days and the offsets in turn.
func shapeOf(learned []*entry, zone *time.Location) *shape {
	points := make([]point, len(learned))
	for i, e := range learned {
		points[i] = point{entry: e, cell: cellOf(e.Number, zone)}
	}
	s := &shape{}
	s.trend(points, 7) // a week has each half hour of a week once
	for range 2 {
		s.fit(points)
		s.trend(points, 1)
	}
	return s
}

// trend sets the trend of each point to the median of the days around it, without offsets.
func (s *shape) trend(points []point, days int32) {
	day := func(i int) int32 { return points[i].Number / slots }
	first, last := day(0), day(len(points)-1)
	for i := 0; i < len(points); {
		today := day(i)
		begin := max(first, min(today-days/2, last-days+1))
		var values []float64
		for k := range points {
			if d := day(k); d >= begin && d < begin+days {
				values = append(values, float64(points[k].Mean)-float64(s[points[k].cell]))
			}
		}
		for trend := median(values); i < len(points) && day(i) == today; i++ {
			points[i].trend = trend
		}
	}
}

// fit computes the offsets: what all days have in common, and what free days differ from it. What chance explains
// is left out.
func (s *shape) fit(points []point) {
	var daily [slots][]float64
	var free [slots][]float64
	for i := range points {
		p := &points[i]
		if slot := p.cell % slots; p.cell < slots {
			daily[slot] = append(daily[slot], p.value())
		} else {
			free[slot] = append(free[slot], p.value())
		}
	}
	for i := range daily {
		if len(daily[i]) == 0 {
			daily[i] = free[i]
		}
	}
	common, noise := centers(daily)
	for i := range common {
		common[i] = significant(common[i], noise[i], min(newestDays, len(daily[i])))
		for k := range free[i] {
			free[i][k] -= common[i]
		}
	}
	for i := range common {
		s[i] = float32(common[i])
		near := append(append(append([]float64(nil), free[(i+slots-1)%slots]...), free[i]...), free[(i+1)%slots]...)
		own := 0.0
		if len(free[i]) > 0 {
			own = significant(median(near), noise[i], len(near))
		}
		s[i+slots] = float32(common[i] + own)
	}
}

// centers returns the median of the newest days of each half hour, and the standard deviation around it, from the
// half hours near it.
func centers(bySlot [slots][]float64) (center, noise [slots]float64) {
	for i, v := range bySlot {
		if len(v) > 0 {
			center[i] = median(v[max(0, len(v)-newestDays):])
		}
	}
	for i := range bySlot {
		var near []float64
		for j := i - around; j <= i+around; j++ {
			n := (j + slots) % slots
			for _, x := range bySlot[n] {
				near = append(near, math.Abs(x-center[n]))
			}
		}
		if len(near) > 0 {
			noise[i] = 1.48 * median(near) // the standard deviation of a normal distribution
		}
	}
	return center, noise
}

// significant returns a median of n values with a standard deviation of noise, or 0 if chance explains it.
func significant(v, noise float64, n int) float64 {
	if n == 0 || math.Abs(v) < deviations*noise/math.Sqrt(float64(n)) {
		return 0
	}
	return v
}
