package report

import (
	"fmt"
	"strings"

	"synthetic/internal/study/figures"
)

// comparisonResult says how a series compares with the baseline.
type comparisonResult string

const (
	resultBetter comparisonResult = "better"
	resultWorse  comparisonResult = "worse"
	// Mixed: better in some figures and worse in others.
	resultMixed comparisonResult = "better and worse"
	// Alike: the intervals show that no figure differs by more than maxAlikeRatio.
	resultAlike comparisonResult = "no difference"
	// Inconclusive: the measurement shows neither a difference nor its absence.
	resultInconclusive comparisonResult = "inconclusive"
)

// decision is the comparison of a series with the baseline and its reasons. Capacity decides;
// otherwise latency at equal load, then throughput. Costs and yield per GPU follow from
// throughput.
type decision struct {
	Series, Baseline  string
	Verdict           comparisonResult
	Criterion         string   // one of the constants below, or "" if nothing decided
	BetterIn, WorseIn []string // the figures that decided, by direction
	// Shown describes the first figure that decided, or the first that was compared, with its
	// interval; "" if nothing could be compared.
	Shown string
	// Why is the reason of an inconclusive comparison. Remedy is what to do, "" if that follows
	// from the capacities.
	Why, Remedy string
}

// The criteria, in order of precedence.
const (
	byCapacity   = "capacity. Variants are compared by capacity first, then by latency"
	byLatency    = "latency at equal load"
	byThroughput = "throughput at equal load"
)

// compareSeries compares a series of a study with its first one, given the compliance of both.
func compareSeries(s *figures.Study, series figures.Series, base, own Compliance) decision {
	d := decision{Series: series.Name, Baseline: base.Variant}
	switch {
	case base.provenBelow(own):
		d.Verdict, d.Criterion, d.BetterIn = resultBetter, byCapacity, []string{"capacity"}
		d.Shown = fmt.Sprintf("it meets every SLO up to %s, and %s %s at %s", s.At(*own.Level), base.Variant, missWords(s, base), s.At(*base.Missed))
		return d
	case own.provenBelow(base):
		d.Verdict, d.Criterion, d.WorseIn = resultWorse, byCapacity, []string{"capacity"}
		d.Shown = fmt.Sprintf("it %s at %s, and %s meets every SLO up to %s", missWords(s, own), s.At(*own.Missed), base.Variant, s.At(*base.Level))
		return d
	}
	alike := true
	for _, c := range []struct {
		name    string
		metrics []figures.Metric
	}{
		{byLatency, []figures.Metric{figures.TTFTP95, figures.TTFTP50, figures.TPOTP50, figures.TPOTP95, figures.LatencyP50, figures.LatencyP95}},
		{byThroughput, []figures.Metric{figures.OutputTokensPerSecond, figures.TurnsPerSecond}},
	} {
		all := atEqualLoad(c.metrics, sound(s.Series[0]), sound(series))
		if d.decide(c.name, all); d.Criterion != "" {
			return d
		}
		for _, o := range all {
			low, high := o.interval()
			alike = alike && low >= 1/maxAlikeRatio && high <= maxAlikeRatio
		}
	}
	switch {
	case d.Shown == "":
		d.Verdict, d.Why = resultInconclusive, nothingShared(s, series)
		d.Remedy = "measure both at the same levels, after you have removed the cause above."
	case alike:
		d.Verdict = resultAlike
	default:
		d.Verdict, d.Remedy = resultInconclusive, "measure each level for longer, or repeat the sweep."
		d.Why = fmt.Sprintf("no figure differs beyond noise at most of the levels, but the true difference may be more than %s", formatChange(maxAlikeRatio, 0)[1:])
	}
	return d
}

// missWords says what a series does at the level that ends its capacity.
func missWords(s *figures.Study, c Compliance) string {
	l, _ := s.SeriesNamed(c.Variant).Level(*c.Missed)
	v := Judge(s.Objectives, l)
	if words := v.MissedWords(labelOf(s.Objectives), " and "); words != "" {
		return "misses " + words
	}
	return "was given up"
}

// decide applies the figures of one criterion, if any is better or worse.
func (d *decision) decide(name string, all []overall) {
	for _, o := range all {
		switch o.direction() {
		case 1:
			d.BetterIn = append(d.BetterIn, o.metric.Title())
		case -1:
			d.WorseIn = append(d.WorseIn, o.metric.Title())
		}
		if d.Shown == "" || o.direction() != 0 && d.Criterion == "" {
			d.Shown = o.String()
		}
		if o.direction() != 0 {
			d.Criterion = name
		}
	}
	switch {
	case d.Criterion == "":
	case d.WorseIn == nil:
		d.Verdict = resultBetter
	case d.BetterIn == nil:
		d.Verdict = resultWorse
	default:
		d.Verdict = resultMixed
	}
}

// nothingShared says why no level of a series can be compared with the baseline.
func nothingShared(s *figures.Study, other figures.Series) string {
	for _, series := range []figures.Series{other, s.Series[0]} {
		for _, l := range series.Levels {
			if why := unsound(l); why != "" {
				return fmt.Sprintf("no level can be compared. %s, %s: %s", series.Name, s.At(l.At), why)
			}
		}
	}
	return "no level of both has a latency or a throughput"
}

// headline states the result and the figure that shows it.
func (d decision) headline() string {
	switch {
	case d.Verdict == resultInconclusive && d.Shown == "":
		return fmt.Sprintf("Inconclusive: %s against %s.", d.Series, d.Baseline)
	case d.Verdict == resultInconclusive:
		return fmt.Sprintf("Inconclusive: %s against %s, %s.", d.Series, d.Baseline, d.Shown)
	case d.Verdict == resultAlike:
		return fmt.Sprintf("No difference: %s against %s, %s.", d.Series, d.Baseline, d.Shown)
	}
	return fmt.Sprintf("%s is %s than %s: %s.", d.Series, d.Verdict, d.Baseline, d.Shown)
}

// explanation states the criterion that decided, or why none did.
func (d decision) explanation() string {
	better, worse := strings.Join(d.BetterIn, ", "), strings.Join(d.WorseIn, ", ")
	switch {
	case d.Verdict == resultInconclusive:
		return strings.ToUpper(d.Why[:1]) + d.Why[1:] + "."
	case d.Verdict == resultAlike:
		return fmt.Sprintf("At equal load no latency and no throughput differs by more than %s.", formatChange(maxAlikeRatio, 0)[1:])
	case better == "" || worse == "":
		return fmt.Sprintf("Decided by %s.", d.Criterion)
	}
	return fmt.Sprintf("Decided by %s: better are %s; worse are %s.", d.Criterion, better, worse)
}
