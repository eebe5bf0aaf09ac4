package report

import (
	"fmt"
	"math"
	"slices"

	"synthetic/internal/serverside"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

const (
	// lagShare of a figure, and at least lagMs, is how late the prober was if that is reported.
	lagShare, lagMs = 0.1, 10.0
	lengthsApart    = 0.1  // least difference of output tokens per turn between series that is reported
	lateShare       = 0.05 // share of a turn's duration by which its start was late
	acceptance      = 0.05 // accepted share of drafted tokens that makes a draft model useless
)

// defects names what is wrong with a measurement, a line for each kind, with its levels.
func defects(s *Study) []string {
	out := slices.Clone(s.Warnings)
	for _, series := range s.Series {
		of := ""
		if len(s.Series) > 1 {
			of = series.Name + ", "
		}
		var kinds []string
		levels, worst := map[string][]float64{}, map[string]string{}
		for _, l := range series.Levels {
			for _, d := range levelDefects(l) {
				if levels[d.kind] == nil {
					kinds = append(kinds, d.kind)
					worst[d.kind] = d.text
				}
				levels[d.kind] = append(levels[d.kind], l.At)
			}
		}
		for _, kind := range kinds {
			out = append(out, fmt.Sprintf("%s%s: %s", of, s.At(levels[kind]...), worst[kind]))
		}
	}
	return append(out, answerLengths(s)...)
}

// defect is a kind of defect, and its text at one level.
type defect struct{ kind, text string }

func levelDefects(l Level) (out []defect) {
	say := func(kind, format string, args ...any) { out = append(out, defect{kind, fmt.Sprintf(format, args...)}) }
	if l.NotReached != "" {
		say("not reached", "the level was not reached: %s.", l.NotReached)
	}
	for _, x := range [][2]Metric{{AddedTTFTP99, TTFTP50}, {AddedGapP99, shownQuantile(slo.ITL, 2)}} {
		if late := l.Value(x[0]); late > lagMs && late > lagShare*l.Value(x[1]) {
			say(x[0].Key(), "in 1 turn of 100 the prober may have added %s or more to %s; give it more cores.", x[0].Text(late), x[1].Title())
		}
	}
	if lag := l.Value(ScheduleLagP99); lag > lagMs && lag > lateShare*l.Value(LatencyMean) {
		say("schedule", "1 turn of 100 was sent %s or more after it was due; give the prober more cores.", ScheduleLagP99.Text(lag))
	}
	for _, f := range l.Server {
		if f.Name == serverside.SpecAcceptance && f.Value < acceptance {
			say("acceptance", "speculative decoding accepts %.2f%% of drafted tokens: it is pure overhead.", 100*f.Value)
		}
	}
	for _, text := range l.Warnings {
		say(text, "%s", text)
	}
	return out
}

// answerLengths names series whose answers are longer or shorter than the baseline's, because that alone changes
// throughput, latency and turns in flight.
func answerLengths(s *Study) (out []string) {
	for _, series := range s.Series[min(1, len(s.Series)):] {
		for i, l := range series.Levels {
			if i > 0 && math.IsNaN(l.Value(OutputTokensPerTurn)) {
				break // derived from throughput, which may lag behind arrivals above the lowest level
			}
			base, ok := s.Series[0].Level(l.At)
			a, b := tokensPerTurn(s, base), tokensPerTurn(s, l)
			if ok && math.Abs(b/a-1) > lengthsApart {
				out = append(out, fmt.Sprintf("%s: an answer of %s has %.0f tokens, of %s %.0f, so throughput and turn latency cannot be compared.",
					s.At(l.At), s.Series[0].Name, a, series.Name, b))
				break
			}
		}
	}
	return out
}

// tokensPerTurn returns the mean length of an answer: as counted, or throughput over turns per
// second. An open loop that keeps up has as many turns per second as its level.
func tokensPerTurn(s *Study, l Level) float64 {
	if n := l.Value(OutputTokensPerTurn); !math.IsNaN(n) {
		return n
	}
	perSecond := l.Value(TurnsPerSecond)
	if math.IsNaN(perSecond) && s.Kind == runs.Rate {
		perSecond = l.At
	}
	return l.Value(OutputTokensPerSecond) / perSecond
}
