package figures

import (
	"fmt"
	"slices"
	"strings"
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
	metrics []Metric
}

func grounds() []ground {
	return []ground{
		{ByLatency, []Metric{TTFTP95, TTFTP50, TPOTP50, TPOTP95, LatencyP50, LatencyP95}},
		{ByThroughput, []Metric{OutputTokensPerSecond, TurnsPerSecond}},
	}
}

// Decide compares a series of a study with its first one, given what Comply says
// of both.
func Decide(s *Study, series Series, base, own Compliance) Decision {
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
func nothingShared(base, other Series) string {
	for _, series := range []Series{other, base} {
		for _, l := range series.Levels {
			if why := Unsound(l); why != "" {
				return fmt.Sprintf("no level of both can be compared; %s at %g: %s", series.Name, l.At, why)
			}
		}
	}
	return "no level was measured of both, with a latency or a throughput"
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
