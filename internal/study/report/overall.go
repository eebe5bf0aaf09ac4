package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// overall summarises a figure over the levels that both series have.
type overall struct {
	metric        Metric
	changes       []change // by rising level
	better, worse int      // the number of levels beyond noise
	// log is the mean of ln(value / baseline). down and up sum the squared distances of the
	// interval's ends from it; NaN without intervals.
	log, down, up float64
}

// atEqualLoad summarises the figures that both series have at sound levels.
func atEqualLoad(metrics []Metric, base, other Series) (all []overall) {
	for _, m := range metrics {
		o := overall{metric: m}
		for _, p := range sharedLevels(base, other) {
			if c := compareFigures(m, p[0], p[1]); c.Known && c.Ratio > 0 {
				o.add(c)
			}
		}
		if len(o.changes) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// sharedLevels returns the sound levels of both series: the baseline's, then the other's.
func sharedLevels(base, other Series) (both [][2]Level) {
	for _, l := range other.Levels {
		if b, ok := base.Level(l.At); ok && unsound(b)+unsound(l) == "" {
			both = append(both, [2]Level{b, l})
		}
	}
	return both
}

func (o *overall) add(c change) {
	log := math.Log(c.Ratio)
	o.changes = append(o.changes, c)
	o.log += (log - o.log) / float64(len(o.changes))
	o.down += math.Pow(log-math.Log(c.Low), 2)
	o.up += math.Pow(math.Log(c.High)-log, 2)
	switch {
	case !c.sure():
	case c.Direction > 0:
		o.better++
	default:
		o.worse++
	}
}

// direction returns 1 if the figure is better beyond noise at more than half of the levels, less those at which it is
// worse; -1 for the opposite, otherwise 0.
func (o overall) direction() int {
	switch most := o.better - o.worse; {
	case 2*most > len(o.changes):
		return 1
	case -2*most > len(o.changes):
		return -1
	}
	return 0
}

// alike reports whether the 95 % interval of the mean ratio lies within maxAlikeRatio. Levels are independent.
func (o overall) alike() bool {
	n := float64(len(o.changes))
	return math.Exp(o.log-math.Sqrt(o.down)/n) >= 1/maxAlikeRatio && math.Exp(o.log+math.Sqrt(o.up)/n) <= maxAlikeRatio
}

// maxAlikeRatio bounds the intervals of figures that count as equal.
const maxAlikeRatio = 1.05

// String returns the mean change: "TTFT p95 25.0% lower", "TTFT p50 25.6x as high". A sign would mean a change here and
// an improvement in the tables.
func (o overall) String() string {
	ratio, way := math.Exp(o.log), "lower"
	text := strings.TrimLeft(formatChange(ratio, 1), "+-")
	switch {
	case text == "0%":
		text, way = "the", "same"
	case ratio >= largeRatio:
		way = "as high"
	case ratio > 1:
		way = "higher"
	}
	return fmt.Sprintf("%s %s %s", o.metric.Title(), text, way)
}

// mean returns the mean change as one.
func (o overall) mean() change {
	c := change{Metric: o.metric, Ratio: math.Exp(o.log), Direction: 1}
	if c.improvement() < 0 {
		c.Direction = -1
	}
	return c
}

// sums says where the figure is better beyond chance and where it is worse, with the least and the largest change:
// "13–49% worse at 50–90, 10–17% better at 100–120".
func (o overall) sums(levels []float64) (parts []string) {
	for _, direction := range []int{-1, 1} {
		var at, ratios []float64
		for _, c := range o.changes {
			if c.Direction == direction && !c.Noise {
				at, ratios = append(at, c.At), append(ratios, c.Ratio)
			}
		}
		if at != nil {
			word := map[int]string{-1: "worse", 1: "better"}[direction]
			parts = append(parts, fmt.Sprintf("%s %s at %s", extremes(ratios), word, spans(at, levels)))
		}
	}
	return parts
}

// extremes returns the least and the largest of changes in one direction: "13–49%", "36%–165x".
func extremes(sizes []float64) string {
	var texts []string
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(math.Abs(math.Log(a)), math.Abs(math.Log(b))) })
	for _, ratio := range []float64{sizes[0], sizes[len(sizes)-1]} {
		if ratio >= largeRatio {
			texts = append(texts, Digits(ratio, 0)+"x")
		} else {
			texts = append(texts, signed(math.Abs(100*(ratio-1)), 0, ""))
		}
	}
	return joinEnds(texts[0], texts[1])
}

// joinEnds returns "13–49%" for "13%" and "49%", "36%–165x", or one of two equal texts.
func joinEnds(low, high string) string {
	unit := len(low)
	for unit > 0 && (low[unit-1] < '0' || low[unit-1] > '9') {
		unit--
	}
	switch {
	case low == high:
		return low
	case len(high) > len(low[unit:]) && high[len(high)-len(low[unit:]):] == low[unit:]:
		return low[:unit] + "–" + high
	}
	return low + "–" + high
}

// spans returns levels as ranges of neighbours among all levels: "50–90", "40–100 and 120".
func spans(at, all []float64) string {
	var words []string
	for i := 0; i < len(at); {
		j, place := i, slices.Index(all, at[i])
		for j+1 < len(at) && place+j+1-i < len(all) && all[place+j+1-i] == at[j+1] {
			j++
		}
		words = append(words, joinEnds(formatLevel(at[i]), formatLevel(at[j])))
		i = j + 1
	}
	return joinWords(words)
}
