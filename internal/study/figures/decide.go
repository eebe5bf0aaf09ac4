package figures

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is how a series stands against the baseline.
type Winner string

// The verdicts.
const (
	Better Winner = "better"
	Worse  Winner = "worse"
	// Mixed is better by some figures and worse by others.
	Mixed Winner = "better and worse"
	// Alike: no latency differs by more than alike, which the intervals show.
	Alike Winner = "no difference"
	// Inconclusive: what was measured shows neither a difference nor that there is
	// none.
	Inconclusive Winner = "inconclusive"
)

// Decision is a verdict and what led to it: capacity or, where it does not decide,
// latency at equal load, or throughput, of which costs and the yield of GPUs follow.
type Decision struct {
	Series, Baseline string
	Verdict          Winner
	// By is ByCapacity, ByLatency, ByThroughput, or "" when nothing decided.
	Criterion string
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
type criterion struct {
	name    string
	metrics []Metric
}

func criteria() []criterion {
	return []criterion{
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
	case base.provenBelow(own):
		d.Verdict, d.Criterion, d.BetterIn, d.Shown = Better, ByCapacity, []string{capacities}, capacities
		return d
	case own.provenBelow(base):
		d.Verdict, d.Criterion, d.WorseIn, d.Shown = Worse, ByCapacity, []string{capacities}, capacities
		return d
	}
	same := true
	for _, g := range criteria() {
		all := atEqualLoad(g.metrics, Sound(s.Series[0]), Sound(series))
		if d.decide(g.name, all); d.Criterion != "" {
			return d
		}
		same = same && !slices.ContainsFunc(all, func(o overall) bool { return !o.isAlike() })
	}
	switch {
	case d.Shown == "":
		d.Verdict, d.Why = Inconclusive, nothingShared(s.Series[0], series)
	case same:
		d.Verdict = Alike
	default:
		d.Verdict, d.Why = Inconclusive, fmt.Sprintf("nothing differs beyond noise at most levels, and a difference of more than %s is not ruled out: measure longer, or repeat", Change(maxAlikeRatio, 0)[1:])
	}
	return d
}

// decide takes in what figures say, when any is better or worse.
func (d *Decision) decide(by string, all []overall) {
	for _, o := range all {
		switch o.direction() {
		case 1:
			d.BetterIn = append(d.BetterIn, o.describeRange())
		case -1:
			d.WorseIn = append(d.WorseIn, o.describeRange())
		}
		if d.Shown == "" || o.direction() != 0 && d.Criterion == "" {
			d.Shown = o.String()
		}
		if o.direction() != 0 {
			d.Criterion = by
		}
	}
	switch {
	case d.Criterion == "":
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
func (d Decision) Explanation() string {
	better, worse := strings.Join(d.BetterIn, ", "), strings.Join(d.WorseIn, ", ")
	switch {
	case d.Verdict == Inconclusive:
		return strings.ToUpper(d.Why[:1]) + d.Why[1:] + "."
	case d.Verdict == Alike:
		return fmt.Sprintf("At equal load no latency and no throughput differs by more than %s.", Change(maxAlikeRatio, 0)[1:])
	case d.Criterion == ByCapacity:
		return "Decided by capacity."
	case worse == "":
		return fmt.Sprintf("Decided by %s: %s.", d.Criterion, better)
	case better == "":
		return fmt.Sprintf("Decided by %s: %s.", d.Criterion, worse)
	}
	return fmt.Sprintf("Decided by %s: better are %s; worse are %s.", d.Criterion, better, worse)
}
