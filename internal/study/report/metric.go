package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// Timing is a latency of a turn, named as in metric keys.
type Timing string

const (
	NoTiming   Timing = ""
	TTFT       Timing = "ttft"
	AnswerTTFT Timing = "answer_ttft"
	TPOT       Timing = "tpot"
	// NTPOT is the duration of a turn over its output tokens.
	NTPOT   Timing = "ntpot"
	ITL     Timing = "itl"
	Latency Timing = "latency"
)

func Timings() []Timing { return []Timing{TTFT, AnswerTTFT, TPOT, NTPOT, ITL, Latency} }

// Title returns the printed name, such as "TTFT".
func (t Timing) Title() string {
	return map[Timing]string{TTFT: "TTFT", AnswerTTFT: "Answer TTFT", TPOT: "TPOT", NTPOT: "NTPOT", ITL: "ITL", Latency: "Latency"}[t]
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

// SD names the standard deviation. The other statistics of a latency that are no quantiles are mean, min and max.
const SD = "sd"

// Statistic returns the metric of a statistic over all turns, such as "ttft_mean_ms".
func (t Timing) Statistic(name string) Metric { return Metric(string(t) + "_" + name + "_ms") }

// Metric is a figure of reports, named by its key in JSON and CSV.
type Metric string

const (
	NoMetric Metric = ""

	// Latencies over all turns.
	TTFTP50    Metric = "ttft_p50_ms"
	TTFTP95    Metric = "ttft_p95_ms"
	TTFTP99    Metric = "ttft_p99_ms"
	TPOTP50    Metric = "tpot_p50_ms"
	TPOTP95    Metric = "tpot_p95_ms"
	TPOTP99    Metric = "tpot_p99_ms"
	LatencyP50 Metric = "latency_p50_ms"
	LatencyP95 Metric = "latency_p95_ms"

	ErrorPct                    Metric = "error_pct"
	TurnsPerSecond              Metric = "actual_rps"
	ConversationStartsPerSecond Metric = "conversation_starts_per_s"
	GoodputPerSecond            Metric = "goodput_per_s"
	OutputTokensPerSecond       Metric = "tops"
	PromptTokensPerSecond       Metric = "prompt_tokens_per_s"
	OutputTokensPerTurn         Metric = "output_tokens_per_turn"
	KVHitRatePct                Metric = "kv_hit_rate_pct"
	InFlightMean                Metric = "in_flight_mean"
	InFlightMax                 Metric = "max_in_flight"
	LatencyMean                 Metric = "latency_mean_ms"
	Completed                   Metric = "completed"
	Failed                      Metric = "failed"
	CorrectPct                  Metric = "correct_pct"
	CorrectCachedPct            Metric = "correct_cached_pct"
	CorrectUncachedPct          Metric = "correct_uncached_pct"
	ForeignAnswers              Metric = "foreign_answers"
	ScheduleLagP99              Metric = "schedule_lag_p99_ms"
	ReadLagP99                  Metric = "read_lag_p99_ms"
	AddedTTFTP99                Metric = "added_ttft_p99_ms"
	AddedGapP99                 Metric = "added_gap_p99_ms"
	// TurnTimeMean is the summed duration of all turns divided by the number of turns that the
	// deployment ended. Reports do not show it.
	TurnTimeMean Metric = "turn_time_mean_ms"
)

// Metrics returns every reported metric, in the order of columns.
func Metrics() (all []Metric) {
	for _, d := range describeAll() {
		all = append(all, d.metric)
	}
	return all
}

// Reported reports whether m is a metric of reports.
func (m Metric) Reported() bool { return m.describe().metric != NoMetric }

// Quantile returns the metric of the i-th of Quantiles.
func (t Timing) Quantile(turns Turns, i int) Metric { return t.percentile(turns, 100*Quantiles()[i]) }

func (t Timing) percentile(turns Turns, percentile float64) Metric {
	switch turns {
	case AllTurns:
		return Metric(fmt.Sprintf("%s_p%g_ms", t, percentile))
	case WithFailures:
		return Metric(fmt.Sprintf("%s_p%g_with_failures_ms", t, percentile))
	}
	return Metric(fmt.Sprintf("%s_%s_p%g_ms", t, turns, percentile))
}

// InMainTables reports whether reports show m: statistics, quantiles over some turns and the prober's own delays are
// in the data only.
func (m Metric) InMainTables() bool {
	if d := m.describe(); d.timing != NoTiming {
		return d.timing != NTPOT && d.turns == AllTurns && slices.Contains(Quantiles(), d.quantile)
	}
	return !slices.Contains([]Metric{ScheduleLagP99, ReadLagP99, AddedTTFTP99, AddedGapP99}, m)
}

// Latency returns what a quantile of a latency is made of, and NoTiming for other metrics.
func (m Metric) Latency() (t Timing, turns Turns, quantile float64) {
	d := m.describe()
	if d.timing == NoTiming || d.quantile == 0 {
		return NoTiming, AllTurns, math.NaN()
	}
	return d.timing, d.turns, d.quantile
}

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
	// timing and turns are those of a latency. quantile is 0 for its other statistics.
	timing   Timing
	turns    Turns
	quantile float64
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
		for _, t := range Timings() {
			all = append(all, t.describeAll(turns)...)
		}
	}
	return append(all, countedMetrics()...)
}

// describeAll describes the quantiles of a latency and, over all turns, its other statistics around them.
func (t Timing) describeAll(turns Turns) (all []description) {
	add := func(m Metric, title string, q float64) {
		title = t.Title() + " " + title
		if turns != AllTurns {
			title += " (" + strings.ReplaceAll(string(turns), "_", " ") + ")"
		}
		all = append(all, description{m, title, "ms", 0, LowerIsBetter, t, turns, q})
	}
	statistics := func(names ...string) {
		for _, name := range names {
			if turns == AllTurns {
				add(t.Statistic(name), strings.Replace(name, SD, "SD", 1), 0)
			}
		}
	}
	statistics("mean", SD, "min")
	for _, q := range allQuantiles() {
		add(t.percentile(turns, 100*q), fmt.Sprintf("p%g", 100*q), q)
	}
	statistics("max")
	return all
}

// countedMetrics returns the metrics other than quantiles and statistics.
func countedMetrics() []description {
	all := []description{
		{metric: ErrorPct, title: "Error %", unit: "%", decimals: 1, better: LowerIsBetter},
		{metric: TurnsPerSecond, title: "Completed turns/s", unit: "", decimals: 2, better: HigherIsBetter},
		{metric: ConversationStartsPerSecond, title: "Conversation starts/s", unit: "", decimals: 2, better: HigherIsBetter},
		{metric: GoodputPerSecond, title: "Goodput (turns/s within every SLO)", unit: "", decimals: 2, better: HigherIsBetter},
		{metric: OutputTokensPerSecond, title: "Output tokens/s", unit: "", decimals: 1, better: HigherIsBetter},
		{metric: PromptTokensPerSecond, title: "Prompt tokens/s", unit: "", decimals: 0, better: HigherIsBetter},
		{metric: OutputTokensPerTurn, title: "Output tokens/turn", unit: "", decimals: 0, better: Neither},
		{metric: KVHitRatePct, title: "Hit Rate", unit: "%", decimals: 1, better: HigherIsBetter},
		{metric: InFlightMean, title: "Turns in flight", unit: "", decimals: 1, better: Neither},
		{metric: InFlightMax, title: "Max Concurrent", unit: "", decimals: 0, better: Neither},
		{metric: Completed, title: "Completed", unit: "", decimals: 0, better: Neither},
		{metric: Failed, title: "Failed", unit: "", decimals: 0, better: LowerIsBetter},
		{metric: ScheduleLagP99, title: "Schedule lag p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: ReadLagP99, title: "Read lag p99", unit: "ms", decimals: 2, better: LowerIsBetter},
		{metric: AddedTTFTP99, title: "At most added to TTFT, p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: AddedGapP99, title: "At most added to a gap, p99", unit: "ms", decimals: 1, better: LowerIsBetter},
		{metric: ForeignAnswers, title: "Foreign answers", unit: "", decimals: 0, better: LowerIsBetter},
	}
	for _, c := range recallClasses() {
		all = append(all, description{metric: c.metric, title: c.title, unit: "%", decimals: 1, better: HigherIsBetter})
	}
	return all
}

// Title returns the column header.
func (m Metric) Title() string { return m.describe().title }

// Unit returns the suffix of values: "ms", "%" or "".
func (m Metric) Unit() string { return m.describe().unit }

// Better returns the better direction.
func (m Metric) Better() Direction { return m.describe().better }
