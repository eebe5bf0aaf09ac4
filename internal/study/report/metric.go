package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"synthetic/internal/slo"
)

// timings returns the timings of reports, in the order of columns.
func timings() []slo.SLI {
	return []slo.SLI{slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.NTPOT, slo.ITL, slo.TurnDuration}
}

// timingKey returns the name of a timing in keys.
func timingKey(t slo.SLI) string {
	if t == slo.TurnDuration {
		return "latency"
	}
	return string(t)
}

// timingTitle returns the printed name of a timing, such as "TTFT".
func timingTitle(t slo.SLI) string {
	titles := map[slo.SLI]string{slo.AnswerTTFT: "Answer TTFT", slo.TurnDuration: "Latency"}
	return cmp.Or(titles[t], strings.ToUpper(string(t)))
}

// Turns is a population of turns, named as in metric keys.
type Turns string

const (
	AllTurns      Turns = ""
	FirstTurns    Turns = "first"
	FollowupTurns Turns = "followup"
	// WithFailures holds all turns, with failed ones at +∞. The other populations hold turns with a value only.
	WithFailures Turns = "with_failures"
)

// Quantiles returns the quantiles that tables, charts and benchmarks show.
func Quantiles() []float64 { return []float64{0.50, 0.95, 0.99} }

func allQuantiles() []float64 { return []float64{0.50, 0.75, 0.90, 0.95, 0.99, 0.999} }

// Statistic is what a metric says of the values of a timing, or what else of a level it is.
type Statistic string

const (
	Mean Statistic = "mean"
	Min  Statistic = "min"
	Max  Statistic = "max"
)

// Metric is a figure of a level: a statistic of a timing of some turns or, without a timing, another statistic.
type Metric struct {
	Timing    slo.SLI
	Turns     Turns
	Statistic Statistic
}

func percentile(t slo.SLI, turns Turns, percent float64) Metric {
	return Metric{t, turns, Statistic(fmt.Sprintf("p%g", percent))}
}

func ofAll(t slo.SLI, s Statistic) Metric { return Metric{Timing: t, Statistic: s} }

func other(s Statistic) Metric { return Metric{Statistic: s} }

// The metrics that conclusions need.
var (
	NoMetric Metric

	TTFTP50     = percentile(slo.TTFT, AllTurns, 50)
	TTFTP95     = percentile(slo.TTFT, AllTurns, 95)
	TTFTP99     = percentile(slo.TTFT, AllTurns, 99)
	TPOTP50     = percentile(slo.TPOT, AllTurns, 50)
	TPOTP95     = percentile(slo.TPOT, AllTurns, 95)
	TPOTP99     = percentile(slo.TPOT, AllTurns, 99)
	LatencyP50  = percentile(slo.TurnDuration, AllTurns, 50)
	LatencyP95  = percentile(slo.TurnDuration, AllTurns, 95)
	LatencyMean = ofAll(slo.TurnDuration, Mean)

	ErrorPct                    = other("error_pct")
	TurnsPerSecond              = other("actual_rps")
	ConversationStartsPerSecond = other("conversation_starts_per_s")
	GoodputPerSecond            = other("goodput_per_s")
	OutputTokensPerSecond       = other("tops")
	PromptTokensPerSecond       = other("prompt_tokens_per_s")
	OutputTokensPerTurn         = other("output_tokens_per_turn")
	KVHitRatePct                = other("kv_hit_rate_pct")
	InFlightMean                = other("in_flight_mean")
	InFlightMax                 = other("max_in_flight")
	Completed                   = other("completed")
	Failed                      = other("failed")
	CorrectPct                  = other("correct_pct")
	ForeignAnswers              = other("foreign_answers")
	ScheduleLagP99              = other("schedule_lag_p99_ms")
	AddedTTFTP99                = other("added_ttft_p99_ms")
	AddedGapP99                 = other("added_gap_p99_ms")
	// TurnTimeMean is the summed duration of all turns divided by the number of turns that the
	// deployment ended. Reports do not show it.
	TurnTimeMean = other("turn_time_mean_ms")
)

// Key returns the name of the metric in JSON and conditions of the gate.
func (m Metric) Key() string {
	words := []string{timingKey(m.Timing), string(m.Statistic), "ms"}
	switch {
	case m.Timing == "":
		return string(m.Statistic)
	case m.Turns == WithFailures:
		words = slices.Insert(words, 2, string(m.Turns))
	case m.Turns != AllTurns:
		words = slices.Insert(words, 1, string(m.Turns))
	}
	return strings.Join(words, "_")
}

// Metrics returns every reported metric, in the order of columns.
func Metrics() (all []Metric) {
	for _, d := range describeAll() {
		all = append(all, d.metric)
	}
	return all
}

// Reported reports whether m is a metric of reports.
func (m Metric) Reported() bool { return m.describe().metric != NoMetric }

// shownQuantile returns the metric of the i-th of Quantiles over all turns.
func shownQuantile(t slo.SLI, i int) Metric { return percentile(t, AllTurns, 100*Quantiles()[i]) }

// InMainTables reports whether reports show m: statistics, quantiles over some turns and the prober's own delays are
// in the data only.
func (m Metric) InMainTables() bool {
	if m.Timing != "" {
		return m.Timing != slo.NTPOT && m.Turns == AllTurns && slices.Contains(Quantiles(), m.quantile())
	}
	return !slices.Contains([]Metric{ScheduleLagP99, AddedTTFTP99, AddedGapP99}, m)
}

// quantile returns the share of values below a percentile, 0 for other metrics.
func (m Metric) quantile() float64 { return m.describe().quantile }

// Direction says whether lower or higher values are better.
type Direction int

const (
	// Neither: the figure is descriptive.
	Neither Direction = iota
	LowerIsBetter
	HigherIsBetter
)

type description struct {
	metric      Metric
	title, unit string // title is the column header, unit the suffix of values
	decimals    int
	better      Direction
	quantile    float64 // 0 for other statistics
}

// describe returns the description of a reported metric, and the zero value for others.
func (m Metric) describe() description { return descriptions()[m] }

var descriptions = sync.OnceValue(func() map[Metric]description {
	all := map[Metric]description{}
	for _, d := range describeAll() {
		all[d.metric] = d
	}
	return all
})

// describeAll describes the reported metrics, in the order of columns.
func describeAll() (all []description) {
	for _, turns := range []Turns{AllTurns, FirstTurns, FollowupTurns, WithFailures} {
		for _, t := range timings() {
			all = append(all, describeTiming(t, turns)...)
		}
	}
	return append(all, countedMetrics()...)
}

// describeTiming describes the quantiles of a timing and, over all turns, its other statistics around them.
func describeTiming(t slo.SLI, turns Turns) (all []description) {
	add := func(s Statistic, title string, q float64) {
		title = timingTitle(t) + " " + title
		if turns != AllTurns {
			title += " (" + strings.ReplaceAll(string(turns), "_", " ") + ")"
		}
		all = append(all, description{Metric{t, turns, s}, title, "ms", 0, LowerIsBetter, q})
	}
	statistics := func(names ...Statistic) {
		for _, name := range names {
			if turns == AllTurns {
				add(name, string(name), 0)
			}
		}
	}
	statistics(Mean, Min)
	for _, q := range allQuantiles() {
		add(percentile(t, turns, 100*q).Statistic, fmt.Sprintf("p%g", 100*q), q)
	}
	statistics(Max)
	return all
}

// countedMetrics describes the metrics without a timing.
func countedMetrics() []description {
	return []description{
		{metric: ErrorPct, title: "Error %", unit: "%", decimals: 1, better: LowerIsBetter},
		{metric: TurnsPerSecond, title: "Completed turns/s", decimals: 2, better: HigherIsBetter},
		{metric: ConversationStartsPerSecond, title: "Conversation starts/s", decimals: 2, better: HigherIsBetter},
		{metric: GoodputPerSecond, title: "Goodput (turns/s within every SLO)", decimals: 2, better: HigherIsBetter},
		{metric: OutputTokensPerSecond, title: "Output tokens/s", decimals: 1, better: HigherIsBetter},
		{metric: PromptTokensPerSecond, title: "Prompt tokens/s", decimals: 0, better: HigherIsBetter},
		{metric: OutputTokensPerTurn, title: "Output tokens/turn", decimals: 0, better: Neither},
		{metric: KVHitRatePct, title: "Hit Rate", unit: "%", decimals: 1, better: HigherIsBetter},
		{metric: InFlightMean, title: "Turns in flight", decimals: 1, better: Neither},
		{metric: InFlightMax, title: "Max Concurrent", decimals: 0, better: Neither},
		{metric: Completed, title: "Completed", decimals: 0, better: Neither},
		{metric: Failed, title: "Failed", decimals: 0, better: LowerIsBetter},
		{metric: ScheduleLagP99, title: "Schedule lag p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: AddedTTFTP99, title: "At most added to TTFT, p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: AddedGapP99, title: "At most added to a gap, p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: ForeignAnswers, title: "Foreign answers", decimals: 0, better: LowerIsBetter},
		{metric: CorrectPct, title: "Right answers", unit: "%", decimals: 1, better: HigherIsBetter},
	}
}

// Title returns the column header.
func (m Metric) Title() string { return m.describe().title }

// Unit returns the suffix of values: "ms", "%" or "".
func (m Metric) Unit() string { return m.describe().unit }

// Better returns the better direction.
func (m Metric) Better() Direction { return m.describe().better }

const secondsFromMillis = 10_000

// Text returns a value with its unit as printed: "236ms", "58.5s", "16.3%".
func (m Metric) Text(v float64) string { return m.describe().text(v) }

func (d description) text(v float64) string {
	text := d.number(v, v)
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 0):
		return text
	case d.inSeconds(v):
		return text + "s"
	}
	return text + d.unit
}

// mark returns markLargest if no turn lies beyond a quantile, which then is the largest value.
func (m Metric) mark(f Figure) mark {
	if q := m.quantile(); f.N > 0 && float64(f.N)*(1-q) < 1 {
		return markLargest
	}
	return noMark
}

// Range returns a figure with its 95 % interval: "236ms (221–247)". A "?" is an unknown end.
func (m Metric) Range(f Figure) string {
	d := m.describe()
	low, high := d.number(f.Low, f.Value), d.number(f.High, f.Value)
	if d.metric == CorrectPct && !math.IsNaN(f.High) {
		high = strconv.FormatFloat(f.High, 'f', d.decimals, 64) // an upper end below 100 % may be printed as 100 %
	}
	if low == high || !f.Ranged() && !f.Uncertain() {
		return m.Text(f.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", m.Text(f.Value), low, high)
}

// number formats v in the unit and with the digits of the value that it stands beside.
func (d description) number(v, beside float64) string {
	decimals := d.decimals
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case d.inSeconds(beside):
		v, decimals = v/1000, 1
	case d.metric == CorrectPct && v < 100:
		v = roundRight(v)
	case d.unit == "ms" && beside >= 10:
		decimals = 0
	case d.unit != "ms" || beside == 0:
	case beside >= 1: // short times need more digits
		decimals = 1
	default:
		decimals = 2
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// inSeconds reports whether a value is printed in seconds: the duration of a turn from 10 s on.
func (d description) inSeconds(v float64) bool {
	return v >= secondsFromMillis && d.metric.Timing == slo.TurnDuration
}

// roundRight rounds a percentage of right answers as it is printed: to a tenth, but below 100 if it is below 100.
func roundRight(v float64) float64 {
	if v >= 100 {
		return v
	}
	return min(math.Round(10*v)/10, 99.9)
}

// Digits formats a measured number with at most three significant digits and at most the given decimals.
func Digits(v float64, decimals int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	switch size := math.Abs(rounded); {
	case size >= 1000:
		return strconv.FormatFloat(rounded, 'f', 0, 64)
	case size >= 100:
		decimals = 0
	case size >= 10:
		decimals = min(decimals, 1)
	case size >= 1:
		decimals = min(decimals, 2)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
