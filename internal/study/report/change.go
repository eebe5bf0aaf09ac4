package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/study/runs"
)

const (
	largeRatio = 5
	// survivorsPct is by how many points more turns must fail before a better latency is that of the survivors.
	survivorsPct = 1.0
)

// change is the difference of a figure from the baseline's at one level.
type change struct {
	At     float64
	Metric Metric
	Known  bool
	// Ratio is value / baseline. Low and High are the ends of its 95 % interval, NaN if unknown.
	Ratio, Low, High float64
	// Direction is 1 if the figure is better, -1 if it is worse, 0 if it is neither.
	Direction int
	Noise     bool // the intervals do not separate the two figures
	// Survivors is set if a latency is better while more turns failed: the others then had more of the deployment.
	Survivors bool
}

// unsound says why nothing is concluded from a level, "" for a sound one. A late prober only widens the intervals of
// the figures that it can have moved.
func unsound(l Level) string {
	if l.NotReached == "" {
		return ""
	}
	return "not reached: " + l.NotReached
}

// compareFigures compares a figure of a level with the baseline's level.
func compareFigures(m Metric, base, other Level) change {
	a, b := base.Figure(m), other.Figure(m)
	c := change{At: other.At, Metric: m}
	if !a.Known() || !b.Known() || a.Value == 0 || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return c
	}
	c.Known, c.Ratio, c.Noise = true, b.Value/a.Value, withinNoise(a, b)
	c.Low, c.High = ratioInterval(a, b)
	switch {
	case m.Better() == Neither || c.Ratio == 1:
	case (c.Ratio < 1) == (m.Better() == LowerIsBetter):
		c.Direction = 1
		more, noise := moreFail(base, other)
		c.Survivors = more && !noise && m.Unit() == "ms"
	default:
		c.Direction = -1
	}
	return c
}

// moreFail reports whether clearly more turns failed than in the baseline, and whether that may be chance.
func moreFail(base, other Level) (more, noise bool) {
	a, b := base.Figure(ErrorPct), other.Figure(ErrorPct)
	return b.Value-a.Value > survivorsPct, withinNoise(a, b)
}

// withinNoise reports whether the interval of the ratio contains 1. If only one figure has an interval, it reports
// whether that contains the other value. Without intervals nothing counts as noise.
func withinNoise(a, b Figure) bool {
	switch {
	case a.Uncertain() || b.Uncertain():
		return true
	case a.Ranged() && !b.Ranged():
		return a.Low <= b.Value && b.Value <= a.High
	case b.Ranged() && !a.Ranged():
		return b.Low <= a.Value && a.Value <= b.High
	}
	low, high := ratioInterval(a, b)
	if math.IsNaN(low) {
		return a.Ranged() && b.Ranged() && a.Low <= b.High && b.Low <= a.High
	}
	return low <= 1 && 1 <= high
}

// ratioInterval returns the 95 % interval of b / a, from the difference of the logarithms and the intervals of both
// (Zou and Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 2008). It returns
// NaN if one interval is unknown or includes 0.
func ratioInterval(a, b Figure) (low, high float64) {
	if !a.Ranged() || !b.Ranged() || a.Low <= 0 || b.Low <= 0 {
		return math.NaN(), math.NaN()
	}
	d := math.Log(b.Value / a.Value)
	down := math.Hypot(math.Log(b.Value/b.Low), math.Log(a.High/a.Value))
	up := math.Hypot(math.Log(b.High/b.Value), math.Log(a.Value/a.Low))
	return math.Exp(d - down), math.Exp(d + up)
}

// improvement returns by how many percent the figure is better than the baseline's, negative if it is worse.
func (c change) improvement() float64 {
	percent := 100 * (c.Ratio - 1)
	if c.Metric.Better() == HigherIsBetter {
		return percent
	}
	return -percent
}

// gain returns the improvement: "17.9%", "-12.7%", "+31x worse".
func (c change) gain() string {
	if c.Ratio >= largeRatio {
		return formatChange(c.Ratio, 0) + c.word()
	}
	return signed(c.improvement(), 1, "")
}

// String returns "+48% worse", "-10% better", "+31x worse", "0%".
func (c change) String() string {
	text := formatChange(c.Ratio, 0)
	if text == "0%" {
		return text
	}
	return text + c.word()
}

func (c change) word() string { return []string{" worse", "", " better"}[c.Direction+1] }

// mark returns why the change must not be trusted, or noMark.
func (c change) mark() mark {
	switch {
	case c.Survivors:
		return markSurvivors
	case c.Noise && c.Direction != 0:
		return markNoise
	}
	return noMark
}

// sure reports whether the figure is better or worse beyond noise.
func (c change) sure() bool { return c.Direction != 0 && c.mark() == noMark }

// formatChange formats the ratio of a value to its reference as a percentage with the given decimals ("+48%", "-10%") or,
// from a factor of 5 on, as that factor ("+31x"). It returns "n/a" for NaN and negative ratios.
func formatChange(ratio float64, decimals int) string {
	switch {
	case math.IsNaN(ratio), ratio < 0:
		return "n/a"
	case math.IsInf(ratio, 1):
		return "+∞x"
	case ratio >= 1e6:
		return fmt.Sprintf("+%.0ex", ratio)
	case ratio >= largeRatio:
		return "+" + Digits(ratio, decimals) + "x"
	}
	return signed(100*(ratio-1), decimals, "+")
}

// signed formats percent, "0%" for a value that rounds to 0.
func signed(percent float64, decimals int, plus string) string {
	text := fmt.Sprintf("%.*f", decimals, math.Abs(percent))
	switch {
	case strings.Trim(text, "0.") == "":
		return "0%"
	case percent < 0:
		return "-" + text + "%"
	}
	return plus + text + "%"
}

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
		if o := summarise(m, base, other, compareFigures); len(o.changes) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// summarise summarises a figure over the sound levels of both series.
func summarise(m Metric, base, other Series, compare func(m Metric, base, other Level) change) overall {
	o := overall{metric: m}
	for _, p := range sharedLevels(base, other) {
		if c := compare(m, p[0], p[1]); c.Known && c.Ratio > 0 {
			o.add(c)
		}
	}
	return o
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
	number := strings.TrimRightFunc(low, func(r rune) bool { return r < '0' || r > '9' })
	switch {
	case low == high:
		return low
	case strings.HasSuffix(high, low[len(number):]):
		return number + "–" + high
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
	return runs.JoinWords(words)
}
