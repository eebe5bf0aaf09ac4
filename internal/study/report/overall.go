package report

import (
	"fmt"
	"math"

	"synthetic/internal/study/figures"
)

// maxAlikeRatio bounds the intervals of figures that count as equal.
const maxAlikeRatio = 1.05

// overall summarises a figure over the levels that both series have.
type overall struct {
	metric        figures.Metric
	levels        int
	better, worse int // the number of levels beyond noise
	ranged        int // the number of levels with an interval
	// log is the mean of ln(value / baseline). down and up sum the squared distances of the
	// interval's ends from it; NaN without intervals.
	log, down, up float64
}

// atEqualLoad summarises the figures that both series have.
func atEqualLoad(metrics []figures.Metric, base, other figures.Series) (all []overall) {
	for _, m := range metrics {
		o := overall{metric: m}
		for _, l := range other.Levels {
			b, _ := base.Level(l.At)
			if d := compareFigures(m, b, l); d.Known && d.Ratio > 0 {
				o.add(d)
			}
		}
		if o.levels > 0 {
			all = append(all, o)
		}
	}
	return all
}

func (o *overall) add(d delta) {
	log := math.Log(d.Ratio)
	o.levels++
	if !math.IsNaN(d.Low) && !math.IsNaN(d.High) {
		o.ranged++
	}
	o.log += (log - o.log) / float64(o.levels)
	o.down += math.Pow(log-math.Log(d.Low), 2)
	o.up += math.Pow(math.Log(d.High)-log, 2)
	switch {
	case d.Effect == "" || d.caveat() != "":
	case d.Effect == "better":
		o.better++
	default:
		o.worse++
	}
}

// direction returns 1 if the figure is better beyond noise at more than half of the levels and
// worse at none, −1 for the opposite, otherwise 0.
func (o overall) direction() int {
	switch {
	case o.better > 0 && o.worse > 0, 2*max(o.better, o.worse) <= o.levels:
		return 0
	case o.worse > 0:
		return -1
	}
	return 1
}

// count returns "7 of 9 better", "2 of 9 better, 1 worse", "0 of 9".
func (o overall) count() string {
	switch {
	case o.better > 0 && o.worse > 0:
		return fmt.Sprintf("%d of %d better, %d worse", o.better, o.levels, o.worse)
	case o.better > 0:
		return fmt.Sprintf("%d of %d better", o.better, o.levels)
	case o.worse > 0:
		return fmt.Sprintf("%d of %d worse", o.worse, o.levels)
	}
	return fmt.Sprintf("0 of %d", o.levels)
}

// interval returns the 95 % interval of the mean ratio. Levels are independent.
func (o overall) interval() (low, high float64) {
	n := float64(o.levels)
	return math.Exp(o.log - math.Sqrt(o.down)/n), math.Exp(o.log + math.Sqrt(o.up)/n)
}

// change returns "-24.3% (-27.1% to -21.2%)", "-24.3% (?)" if only some levels have an interval, "-24.3%" if none has.
func (o overall) change() string {
	text := formatChange(math.Exp(o.log), 1)
	switch low, high := o.interval(); {
	case o.ranged == o.levels:
		text += fmt.Sprintf(" (%s to %s)", formatChange(low, 1), formatChange(high, 1))
	case o.ranged > 0:
		text += " (?)"
	}
	return text
}

// String returns "TTFT p95 -24.3% (95% interval -27.1% to -21.2%), the mean of 9 levels".
func (o overall) String() string {
	text := o.metric.Title() + " " + formatChange(math.Exp(o.log), 1)
	if low, high := o.interval(); o.ranged == o.levels {
		text += fmt.Sprintf(" (95%% interval %s to %s)", formatChange(low, 1), formatChange(high, 1))
	} else {
		text += " (no 95% interval is known)"
	}
	if o.levels > 1 {
		text += fmt.Sprintf(", the mean of %d levels", o.levels)
	}
	return text
}
