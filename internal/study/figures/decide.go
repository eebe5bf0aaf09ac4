package figures

import (
	"fmt"
	"slices"
	"strings"
)

// Winner says how a series compares with the baseline.
type Winner string

const (
	Better Winner = "better"
	Worse  Winner = "worse"
	// Mixed: better in some figures and worse in others.
	Mixed Winner = "better and worse"
	// Alike: the intervals show that no figure differs by more than maxAlikeRatio.
	Alike Winner = "no difference"
	// Inconclusive: the measurement shows neither a difference nor its absence.
	Inconclusive Winner = "inconclusive"
)

// Decision is the comparison of a series with the baseline and its reasons. Capacity decides;
// otherwise latency at equal load, then throughput. Costs and yield per GPU follow from
// throughput.
type Decision struct {
	Series, Baseline string
	Verdict          Winner
	// Criterion is one of the constants below, or "" if nothing decided.
	Criterion string
	// BetterIn and WorseIn describe the figures that decided, by direction.
	BetterIn, WorseIn []string
	// Shown describes the first figure that decided, or the first that was compared, with its
	// interval; "" if nothing could be compared.
	Shown string
	// Why gives the reason of an inconclusive comparison, and the remedy.
	Why string
}

// The criteria, in order of precedence.
const (
	ByCapacity   = "capacity"
	ByLatency    = "latency at equal load"
	ByThroughput = "throughput at equal load"
)

// criterion is a name and the figures that belong to it.
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

// Decide compares a series of a study with its first one, given the compliance of both.
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

// decide applies the figures of one criterion, if any is better or worse.
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

// nothingShared explains why two series have no figure in common.
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

// Headline states the result and the figure that shows it.
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

// Explanation states the criterion that decided, or why none did.
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
