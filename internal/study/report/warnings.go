package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// Least sizes of problems with a warning.
const (
	survivorsPct = 1.0   // percent of failed turns
	lagMs        = 10.0  // least p99 of the prober's lateness
	lagShare     = 0.1   // share of the figure that the lateness may have caused
	lateShare    = 0.05  // share of a turn's duration by which its start was late
	driftLog     = 0.2   // ln of the TTFT's change from beginning to end
	mostDrift    = 2.303 // ln of the largest change that is printed, 10
	acceptance   = 0.05  // accepted share of drafted tokens
	lengthsApart = 0.1   // relative difference of output tokens per turn between series
)

// warning is a reason to doubt the figures.
type warning struct {
	// Series is empty if the study has only one. Kind and At are the level; Kind is empty for the whole study.
	Series string
	Kind   runfile.LevelKind
	At     float64
	Text   string // describes the problem, its size and the remedy
	// cause is equal for warnings of one kind. size orders them; larger is worse.
	cause string
	size  float64
}

func (w warning) String() string {
	if w.Kind == "" {
		return w.Text
	}
	return w.place(w.At) + ": " + w.Text
}

// place returns levels of the warning's series: "kv, concurrency 40 and 50".
func (w warning) place(levels ...float64) string {
	text := w.Kind.At(levels...)
	if w.Series != "" {
		text = w.Series + ", " + text
	}
	return text
}

var digits = regexp.MustCompile(`[0-9][0-9.,]*`)

func newWarning(size float64, format string, args ...any) warning {
	return warning{Text: fmt.Sprintf(format, args...), cause: format, size: size}
}

// newTextWarning makes a warning from a text. Texts that differ only in numbers have the same
// cause.
func newTextWarning(text string) warning {
	return warning{Text: text, cause: digits.ReplaceAllString(text, "#")}
}

func studyWarnings(s *figures.Study) []warning {
	var out []warning
	for _, text := range s.Warnings {
		out = append(out, newTextWarning(text))
	}
	for _, series := range s.Series {
		name := ""
		if len(s.Series) > 1 {
			name = series.Name
		}
		for i, l := range series.Levels {
			for _, w := range levelWarnings(s, series, i) {
				w.Series, w.Kind, w.At = name, s.LevelKind(), l.At
				out = append(out, w)
			}
		}
	}
	for _, c := range Comply(s) {
		for _, at := range c.Beyond {
			out = append(out, newWarning(at, "%s passes its SLOs again at %s, above a level that fails; repeat the sweep before you rely on the capacity.", c.Variant, s.At(at)))
		}
	}
	return slices.Concat(out, answerLengthWarnings(s), recallWarnings(s))
}

// groupWarnings groups warnings on levels by cause, in order of appearance, worst first. A warning on
// the whole study is a group of its own.
func groupWarnings(all []warning) [][]warning {
	var groups [][]warning
	for _, w := range all {
		i := slices.IndexFunc(groups, func(g []warning) bool { return g[0].Kind != "" && g[0].cause == w.cause })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], w)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b warning) int { return cmp.Compare(b.size, a.size) })
	}
	return groups
}

// distortions returns warnings on effects of the prober that are too large to ignore.
func distortions(l figures.Level) (out []warning) {
	for _, w := range []struct {
		lag, of figures.Metric
		share   float64
		text    string
	}{
		{figures.AddedTTFTP99, figures.TTFTP50, lagShare, "the prober was late: in 1 turn of 100 it may have added %s ms or more to the TTFT; give the prober more cores."},
		{figures.AddedGapP99, figures.ITL.Quantile(figures.AllTurns, 2), lagShare, "the prober read tokens late: in 1 turn of 100 it may have added %s ms or more to an ITL and to the duration of the turn; give the prober more cores."},
		{figures.ScheduleLagP99, figures.LatencyMean, lateShare, "the load was late: 1 turn of 100 was sent %s ms or more after it was due, and latencies do not include this delay; give the prober more cores."},
	} {
		if lag := l.Value(w.lag); lag > lagMs && !(lag <= w.share*l.Value(w.of)) {
			out = append(out, newWarning(lag, w.text, figures.Digits(lag, 0)))
		}
	}
	return out
}

// unsound says why nothing can be concluded from a level: it did not carry its load. It returns ""
// for a sound level. A late prober widens the intervals of the figures that it can have moved.
func unsound(l figures.Level) string {
	if l.NotReached != "" {
		return "not reached: " + l.NotReached
	}
	return ""
}

// sound returns the series without unsound levels.
func sound(series figures.Series) figures.Series {
	series.Levels = slices.DeleteFunc(slices.Clone(series.Levels), func(l figures.Level) bool { return unsound(l) != "" })
	return series
}

func levelWarnings(s *figures.Study, series figures.Series, i int) (out []warning) {
	say := func(size float64, format string, args ...any) { out = append(out, newWarning(size, format, args...)) }
	l := series.Levels[i]
	if share := othersTokens(s, l); share > 0 {
		say(share, "other clients received %.0f%% of the server's output tokens, so the figures are those of a shared deployment; measure again without them.", 100*share)
	}
	if l.NotReached != "" {
		say(0, "the level was not reached, so it is not judged: %s.", l.NotReached)
	}
	if pct := l.Value(figures.ErrorPct); pct >= survivorsPct && l.Valid >= l.Runs {
		flatter := ""
		for _, m := range []figures.Metric{figures.TPOTP50, figures.TTFTP50} {
			if i > 0 && l.Value(m) < series.Levels[i-1].Value(m) {
				flatter += fmt.Sprintf("; %s even looks better than at %s", m.Title(), s.At(series.Levels[i-1].At))
			}
		}
		say(pct, "%.1f%% of turns failed, and latencies count only the others, so they look better than they are%s.", pct, flatter)
	}
	out = append(out, distortions(l)...)
	if c := checkLittle(s, l); !c.holds() && l.NotReached == "" {
		say(math.Abs(c.deviation()), "do not rely on throughput and latency of this level, because they contradict each other: %s turns/s × %s s a turn are %s turns in flight, but there were %s (%s).", figures.Digits(c.Rate, 2), figures.Digits(c.Seconds, 1), figures.Digits(c.Product, 1), figures.Digits(c.InFlight, 1), formatChange(1+c.deviation(), 0))
	}
	if math.Abs(l.Drift) > driftLog {
		// The end of a line through the logarithms says little about a TTFT that grows without end.
		size := formatChange(math.Exp(min(max(l.Drift, -mostDrift), mostDrift)), 0)
		if math.Abs(l.Drift) > mostDrift {
			size = "more than " + size
		}
		say(math.Abs(l.Drift), "TTFT changed by %s during the measurement. Either the warm-up was too short, or the deployment cannot sustain this level.", size)
	}
	switch failed := l.Runs - l.Valid; {
	case failed > 0 && l.Valid == 0:
		say(float64(failed), "more than %d%% of the turns failed. Latencies are those of the turns that succeeded.", figures.MaxErrorPct)
	case failed > 0:
		say(float64(failed), "%d of %d runs had more than %d%% errors: they are left out of the latencies, and the level fails its SLOs.", failed, l.Runs, figures.MaxErrorPct)
	}
	for _, f := range l.Server {
		if f.Name == runfile.ServerSpecAcceptance && f.Value < acceptance {
			say(-f.Value, "speculative decoding accepts %.2f%% of drafted tokens: it is pure overhead.", 100*f.Value)
		}
	}
	for _, text := range l.Warnings {
		out = append(out, newTextWarning(text))
	}
	return out
}

// answerLengthWarnings warns if answers are longer in one series than in another, because that
// alone changes throughput, latency and turns in flight.
func answerLengthWarnings(s *figures.Study) (out []warning) {
	for _, series := range s.Series[min(1, len(s.Series)):] {
		for i, l := range series.Levels {
			if i > 0 && math.IsNaN(l.Value(figures.OutputTokensPerTurn)) {
				break // derived from throughput, which may lag behind arrivals above the lowest level
			}
			base, ok := s.Series[0].Level(l.At)
			a, b := tokensPerTurn(s, base), tokensPerTurn(s, l)
			if ok && math.Abs(b/a-1) > lengthsApart {
				out = append(out, newWarning(math.Abs(math.Log(b/a)), "%s: an answer of %s has %.0f tokens, of %s %.0f, so throughput and turn latency cannot be compared.",
					s.At(l.At), s.Series[0].Name, a, series.Name, b))
				break
			}
		}
	}
	return out
}

// tokensPerTurn returns the mean length of an answer: as counted, or throughput over turns per
// second. An open loop that keeps up has as many turns per second as its level.
func tokensPerTurn(s *figures.Study, l figures.Level) float64 {
	if n := l.Value(figures.OutputTokensPerTurn); !math.IsNaN(n) {
		return n
	}
	perSecond := l.Value(figures.TurnsPerSecond)
	if math.IsNaN(perSecond) && s.Kind == runfile.Rate {
		perSecond = l.At
	}
	return l.Value(figures.OutputTokensPerSecond) / perSecond
}

// littlesLaw says that turns in flight = turns per second × mean duration of a turn.
type littlesLaw struct {
	Known             bool
	InFlight, Product float64 // InFlight was measured or is the level; Product is rate × duration
	Rate, Seconds     float64 // turns/s, and seconds per turn
	Median            bool    // the median replaces an unknown mean
}

// checkLittle checks Little's law for one level: throughput times duration is the number of turns
// in flight. A closed loop without think time should have as many as the level; otherwise the
// product is compared with the measured mean. Turns that begin or end outside the measurement,
// and delays of the prober between two turns, cause differences.
func checkLittle(s *figures.Study, l figures.Level) littlesLaw {
	c := littlesLaw{InFlight: l.Value(figures.InFlightMean), Rate: l.Value(figures.TurnsPerSecond), Seconds: l.Value(figures.TurnTimeMean) / 1000}
	if math.IsNaN(c.Seconds) {
		c.Seconds = l.Value(figures.LatencyMean) / 1000
	}
	if math.IsNaN(c.Seconds) {
		c.Seconds, c.Median = l.Value(figures.LatencyP50)/1000, true
	}
	if s.Kind == runfile.Concurrency && (math.IsNaN(c.InFlight) || runfile.HasNoThinkTime(s.Workload)) {
		c.InFlight = l.At
	}
	c.Product = c.Rate * c.Seconds
	c.Known = !math.IsNaN(c.Product) && !math.IsNaN(c.InFlight) && c.InFlight > 0
	return c
}

func (c littlesLaw) deviation() float64 { return c.Product/c.InFlight - 1 }

// holds allows a difference of 10 % for turns across the ends of the measurement, and 20 % if
// the median replaces the mean.
func (c littlesLaw) holds() bool {
	limit := 0.1
	if c.Median {
		limit = 0.2
	}
	return !c.Known || math.Abs(c.deviation()) <= limit
}
