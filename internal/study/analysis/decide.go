package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

// Verdict is how a series stands against the baseline.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Mixed is better by some figures and worse by others.
	Mixed Verdict = "better and worse"
	// Alike: no latency differs by more than alike, which the intervals show.
	Alike Verdict = "no difference"
	// Inconclusive: what was measured shows neither a difference nor that there is
	// none.
	Inconclusive Verdict = "inconclusive"
)

// alike is the ratio within which the intervals of figures have to lie for their
// series not to differ.
const alike = 1.05

// Decision is a verdict and what led to it: capacity or, where it does not decide,
// latency at equal load, or throughput, of which costs and the yield of GPUs follow.
type Decision struct {
	Series, Baseline string
	Verdict
	// By is ByCapacity, ByLatency, ByThroughput, or "" when nothing decided.
	By string
	// BetterIn and WorseIn are the figures that decided, in words: those by which
	// the series is better, and worse.
	BetterIn, WorseIn []string
	// Shown is the first figure that decided, or would have, in words and with its
	// interval; "" when nothing could be compared.
	Shown string
	// Why says of an inconclusive verdict why, and what helps.
	Why string
}

// What can decide, in this order.
const (
	ByCapacity   = "capacity"
	ByLatency    = "latency at equal load"
	ByThroughput = "throughput at equal load"
)

// ground is something that can decide, and its figures.
type ground struct {
	by      string
	metrics []figures.Metric
}

func grounds() []ground {
	return []ground{
		{ByLatency, []figures.Metric{figures.TTFTP95, figures.TTFTP50, figures.TPOTP50, figures.TPOTP95, figures.LatencyP50, figures.LatencyP95}},
		{ByThroughput, []figures.Metric{figures.OutputTokensPerSecond, figures.TurnsPerSecond}},
	}
}

// Decide compares a series of a study with its first one, given what Comply says
// of both.
func Decide(s *figures.Study, series figures.Series, base, own Compliance) Decision {
	d := Decision{Series: series.Name, Baseline: base.Series}
	capacities := fmt.Sprintf("%s %s against %s", s.LevelName(), own.Between(), base.Between())
	switch {
	case base.below(own):
		d.Verdict, d.By, d.BetterIn, d.Shown = Better, ByCapacity, []string{capacities}, capacities
		return d
	case own.below(base):
		d.Verdict, d.By, d.WorseIn, d.Shown = Worse, ByCapacity, []string{capacities}, capacities
		return d
	}
	same := true
	for _, g := range grounds() {
		all := atEqualLoad(g.metrics, Sound(s.Series[0]), Sound(series))
		if d.decide(g.by, all); d.By != "" {
			return d
		}
		same = same && !slices.ContainsFunc(all, func(o overall) bool { return !o.alike() })
	}
	switch {
	case d.Shown == "":
		d.Verdict, d.Why = Inconclusive, nothingShared(s.Series[0], series)
	case same:
		d.Verdict = Alike
	default:
		d.Verdict, d.Why = Inconclusive, fmt.Sprintf("nothing differs beyond noise at most levels, and a difference of more than %s is not ruled out: measure longer, or repeat", Change(alike, 0)[1:])
	}
	return d
}

// decide takes in what figures say, when any is better or worse.
func (d *Decision) decide(by string, all []overall) {
	for _, o := range all {
		switch o.way() {
		case 1:
			d.BetterIn = append(d.BetterIn, o.span())
		case -1:
			d.WorseIn = append(d.WorseIn, o.span())
		}
		if d.Shown == "" || o.way() != 0 && d.By == "" {
			d.Shown = o.String()
		}
		if o.way() != 0 {
			d.By = by
		}
	}
	switch {
	case d.By == "":
	case d.WorseIn == nil:
		d.Verdict = Better
	case d.BetterIn == nil:
		d.Verdict = Worse
	default:
		d.Verdict = Mixed
	}
}

// nothingShared says why two series have no figure to be compared by.
func nothingShared(base, other figures.Series) string {
	for _, series := range []figures.Series{other, base} {
		for _, l := range series.Levels {
			if why := Unsound(l); why != "" {
				return fmt.Sprintf("no level of both can be compared; %s at %g: %s", series.Name, l.At, why)
			}
		}
	}
	return "no level was measured of both, with a latency or a throughput"
}

// overall sums a figure up over the levels of which both series have it.
type overall struct {
	metric figures.Metric
	levels int
	// better and worse of them are so beyond noise, by least to most percent.
	better, worse int
	least, most   float64
	// log is the mean of ln(value / baseline); down and up are the squared distances
	// of the ends of their intervals from each, summed; NaN without intervals.
	log, down, up float64
}

// atEqualLoad sums figures up, those that both series have.
func atEqualLoad(metrics []figures.Metric, base, other figures.Series) (all []overall) {
	for _, m := range metrics {
		o := overall{metric: m, least: math.Inf(1), most: math.Inf(-1)}
		for _, l := range other.Levels {
			b, _ := base.Level(l.At)
			if d := Between(m, b, l); d.Known && d.Ratio > 0 {
				o.add(d)
			}
		}
		if o.levels > 0 {
			all = append(all, o)
		}
	}
	return all
}

func (o *overall) add(d Delta) {
	log := math.Log(d.Ratio)
	o.levels++
	o.log += (log - o.log) / float64(o.levels)
	o.down += math.Pow(log-math.Log(d.Low), 2)
	o.up += math.Pow(math.Log(d.High)-log, 2)
	switch {
	case d.Effect == "" || d.Caveat() != "":
		return
	case d.Effect == "better":
		o.better++
	default:
		o.worse++
	}
	gain := math.Abs(d.Improvement())
	o.least, o.most = min(o.least, gain), max(o.most, gain)
}

// way is 1 when the figure is better beyond noise at more than half of the levels,
// and worse at none; −1 the other way round; else 0.
func (o overall) way() int {
	switch {
	case o.better > 0 && o.worse > 0, 2*max(o.better, o.worse) <= o.levels:
		return 0
	case o.worse > 0:
		return -1
	}
	return 1
}

// interval is that of the mean ratio, 95 %: levels are measured one by one.
func (o overall) interval() (low, high float64) {
	n := float64(o.levels)
	return math.Exp(o.log - math.Sqrt(o.down)/n), math.Exp(o.log + math.Sqrt(o.up)/n)
}

func (o overall) alike() bool {
	low, high := o.interval()
	return low >= 1/alike && high <= alike
}

// String is "TTFT p95 -24.3% (-27.1% to -21.2%), the mean of 9 levels".
func (o overall) String() string {
	text := o.metric.Title() + " " + Change(math.Exp(o.log), 1)
	if low, high := o.interval(); math.IsNaN(low) {
		text += " (no interval is known)"
	} else {
		text += fmt.Sprintf(" (%s to %s)", Change(low, 1), Change(high, 1))
	}
	if o.levels > 1 {
		text += fmt.Sprintf(", the mean of %d levels", o.levels)
	}
	return text
}

// span is "TTFT p95 by 6.7% to 45% at 9 of 9 levels".
func (o overall) span() string {
	by := percent(o.least) + " to " + percent(o.most)
	if math.Round(o.least) == math.Round(o.most) {
		by = percent(o.most)
	}
	return fmt.Sprintf("%s by %s at %d of %d levels", o.metric.Title(), by, max(o.better, o.worse), o.levels)
}

// percent is "1.9%", "28%", "×32".
func percent(v float64) string {
	switch {
	case v >= 100*(large-1):
		return Change(v/100+1, 0)
	case v >= 10:
		return fmt.Sprintf("%.0f%%", v)
	}
	return fmt.Sprintf("%.1f%%", v)
}

// Headline says the verdict with the figure that shows it.
func (d Decision) Headline() string {
	switch {
	case d.Verdict == Inconclusive && d.Shown == "":
		return fmt.Sprintf("Inconclusive: %s against %s.", d.Series, d.Baseline)
	case d.Verdict == Inconclusive:
		return fmt.Sprintf("Inconclusive: %s against %s, %s.", d.Series, d.Baseline, d.Shown)
	case d.Verdict == Alike:
		return fmt.Sprintf("No difference: %s against %s, %s.", d.Series, d.Baseline, d.Shown)
	}
	return fmt.Sprintf("%s is %s than %s: %s.", d.Series, d.Verdict, d.Baseline, d.Shown)
}

// Ground says by what the verdict was reached, or why there is none.
func (d Decision) Ground() string {
	better, worse := strings.Join(d.BetterIn, ", "), strings.Join(d.WorseIn, ", ")
	switch {
	case d.Verdict == Inconclusive:
		return strings.ToUpper(d.Why[:1]) + d.Why[1:] + "."
	case d.Verdict == Alike:
		return fmt.Sprintf("At equal load no latency and no throughput differs by more than %s.", Change(alike, 0)[1:])
	case d.By == ByCapacity:
		return "Decided by capacity."
	case worse == "":
		return fmt.Sprintf("Decided by %s: %s.", d.By, better)
	case better == "":
		return fmt.Sprintf("Decided by %s: %s.", d.By, worse)
	}
	return fmt.Sprintf("Decided by %s: better are %s; worse are %s.", d.By, better, worse)
}
