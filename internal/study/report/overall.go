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
	metric figures.Metric
	levels int
	// better and worse count levels beyond noise, whose change is least to most percent.
	better, worse int
	least, most   float64
	// log is the mean of ln(value / baseline). down and up sum the squared distances of the
	// interval's ends from it; NaN without intervals.
	log, down, up float64
}

// atEqualLoad summarises the figures that both series have.
func atEqualLoad(metrics []figures.Metric, base, other figures.Series) (all []overall) {
	for _, m := range metrics {
		o := overall{metric: m, least: math.Inf(1), most: math.Inf(-1)}
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
		return
	case d.Effect == "better":
		o.better++
	default:
		o.worse++
	}
	gain := math.Abs(d.improvement())
	o.least, o.most = min(o.least, gain), max(o.most, gain)
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

// String returns "TTFT p95 -24.3% (-27.1% to -21.2%), the mean of 9 levels".
func (o overall) String() string {
	text := o.metric.Title() + " " + formatChange(math.Exp(o.log), 1)
	if low, high := o.interval(); math.IsNaN(low) {
		text += " (no interval is known)"
	} else {
		text += fmt.Sprintf(" (%s to %s)", formatChange(low, 1), formatChange(high, 1))
	}
	if o.levels > 1 {
		text += fmt.Sprintf(", the mean of %d levels", o.levels)
	}
	return text
}

// describeRange returns "TTFT p95 by 6.7% to 45% at 9 of 9 levels".
func (o overall) describeRange() string {
	size := formatPercent(o.least) + " to " + formatPercent(o.most)
	if math.Round(o.least) == math.Round(o.most) {
		size = formatPercent(o.most)
	}
	return fmt.Sprintf("%s by %s at %d of %d levels", o.metric.Title(), size, max(o.better, o.worse), o.levels)
}

// formatPercent formats a change of v percent: "1.9%" below 10, "28%" above, and as a factor such
// as "×32" from largeRatio on.
func formatPercent(v float64) string {
	switch {
	case v >= 100*(largeRatio-1):
		return formatChange(v/100+1, 0)
	case v >= 10:
		return fmt.Sprintf("%.0f%%", v)
	}
	return fmt.Sprintf("%.1f%%", v)
}
