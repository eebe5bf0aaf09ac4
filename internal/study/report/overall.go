package report

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/study/figures"
)

// maxAlikeRatio bounds the intervals of figures that count as equal.
const maxAlikeRatio = 1.05

// overall summarises a figure over the levels that both series have.
type overall struct {
	metric        figures.Metric
	levels        int
	better, worse int // the number of levels beyond noise
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

// interval returns the 95 % interval of the mean ratio. Levels are independent.
func (o overall) interval() (low, high float64) {
	n := float64(o.levels)
	return math.Exp(o.log - math.Sqrt(o.down)/n), math.Exp(o.log + math.Sqrt(o.up)/n)
}

// change returns "-24.3% (-27.1% to -21.2%)", without an unknown interval.
func (o overall) change() string {
	text := formatChange(math.Exp(o.log), 1)
	if low, high := o.interval(); !math.IsNaN(low) && !math.IsNaN(high) {
		text += fmt.Sprintf(" (%s to %s)", formatChange(low, 1), formatChange(high, 1))
	}
	return text
}

// String returns "TTFT p95 -24.3% (95% interval -27.1% to -21.2%), the mean of 9 levels".
func (o overall) String() string {
	text := o.metric.Title() + " " + strings.Replace(o.change(), "(", "(95% interval ", 1)
	if !strings.Contains(text, "(") {
		text += " (no interval is known)"
	}
	if o.levels > 1 {
		text += fmt.Sprintf(", the mean of %d levels", o.levels)
	}
	return text
}
