package analysis

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/study/figures"
)

// Decision is how a series stands against the baseline, and what decided that:
// capacity or, where it does not decide, latency at equal load, or throughput.
// What a deployment costs no file tells.
type Decision struct {
	Series, Baseline string
	// By is ByCapacity, ByLatency, ByThroughput, or "" when nothing decided.
	By string
	// BetterIn and WorseIn are the figures that decided, in words: those by which
	// the series is better, and worse.
	BetterIn, WorseIn []string
}

// What can decide, in this order.
const (
	ByCapacity   = "capacity"
	ByLatency    = "latency at equal load"
	ByThroughput = "throughput at equal load"
)

// Decide compares a series of a study with its first one, given what Comply says
// of both.
func Decide(s *figures.Study, series figures.Series, base, own Compliance) Decision {
	d := Decision{Series: series.Name, Baseline: base.Series}
	capacities := []string{fmt.Sprintf("%s %g against %g", s.LevelName(), own.Highest, base.Highest)}
	switch {
	case base.below(own):
		d.By, d.BetterIn = ByCapacity, capacities
		return d
	case own.below(base):
		d.By, d.WorseIn = ByCapacity, capacities
		return d
	}
	for _, ground := range []struct {
		by      string
		metrics []figures.Metric
	}{
		{ByLatency, []figures.Metric{figures.TTFTP50, figures.TTFTP95, figures.TPOTP50, figures.TPOTP95, figures.LatencyP50, figures.LatencyP95}},
		{ByThroughput, []figures.Metric{figures.OutputTokensPerSecond, figures.TurnsPerSecond}},
	} {
		var better, worse []string
		for _, m := range ground.metrics {
			switch text, way := atEqualLoad(m, s.Series[0].Reached(), series.Reached()); way {
			case 1:
				better = append(better, text)
			case -1:
				worse = append(worse, text)
			}
		}
		if better != nil || worse != nil {
			d.By, d.BetterIn, d.WorseIn = ground.by, better, worse
			return d
		}
	}
	return d
}

// atEqualLoad sums a figure up over the levels that both series reached. It is
// better (way 1) or worse (−1) when it is so beyond noise at more than half of
// them, and at none the other way round.
func atEqualLoad(m figures.Metric, base, other figures.Series) (text string, way int) {
	var better, worse, levels int
	least, most := math.Inf(1), math.Inf(-1)
	for _, l := range other.Levels {
		b, _ := base.Level(l.At)
		d := Between(m, b, l)
		if !d.Known {
			continue
		}
		levels++
		switch {
		case d.Effect == "" || d.Caveat() != "":
			continue
		case d.Effect == "better":
			better++
		default:
			worse++
		}
		gain := math.Abs(d.Improvement())
		least, most = min(least, gain), max(most, gain)
	}
	switch {
	case better > 0 && worse > 0, 2*max(better, worse) <= levels:
		return "", 0
	case worse > 0:
		way = -1
	default:
		way = 1
	}
	by := percent(least) + " to " + percent(most)
	if math.Round(least) == math.Round(most) {
		by = percent(most)
	}
	return fmt.Sprintf("%s by %s at %d of %d levels", m.Title(), by, max(better, worse), levels), way
}

// percent is "1.9%", "28%", "×32".
func percent(v float64) string {
	switch {
	case v >= 100*(large-1):
		return fmt.Sprintf("×%.0f", v/100+1)
	case v >= 10:
		return fmt.Sprintf("%.0f%%", v)
	}
	return fmt.Sprintf("%.1f%%", v)
}

// Sentence says who is better, and by what.
func (d Decision) Sentence() string {
	better, worse := strings.Join(d.BetterIn, ", "), strings.Join(d.WorseIn, ", ")
	switch {
	case d.By == "":
		return fmt.Sprintf("%s and %s do not differ at equal load beyond noise.", d.Series, d.Baseline)
	case worse == "":
		return fmt.Sprintf("%s is better than %s, by %s: %s.", d.Series, d.Baseline, d.By, better)
	case better == "":
		return fmt.Sprintf("%s is worse than %s, by %s: %s.", d.Series, d.Baseline, d.By, worse)
	}
	return fmt.Sprintf("%s is both better and worse than %s, by %s: better are %s; worse are %s.", d.Series, d.Baseline, d.By, better, worse)
}
