package figures

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// AllMetrics returns the metrics of a latency over all turns, in printed order.
func (t Timing) AllMetrics() []Metric {
	all := []Metric{t.Statistic("mean"), t.Statistic(SD), t.Statistic("min")}
	for _, q := range allQuantiles() {
		all = append(all, t.percentile(AllTurns, 100*q))
	}
	return append(all, t.Statistic("max"))
}

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
func Metrics() []Metric {
	var all []Metric
	for _, turns := range []Turns{AllTurns, FirstTurns, FollowupTurns, WithFailures} {
		for _, t := range Timings() {
			if turns == AllTurns {
				all = append(all, t.AllMetrics()...)
				continue
			}
			for _, q := range allQuantiles() {
				all = append(all, t.percentile(turns, 100*q))
			}
		}
	}
	for _, d := range countedMetrics() {
		all = append(all, d.metric)
	}
	return all
}

// Reported reports whether m is a metric of reports.
func (m Metric) Reported() bool { return slices.Contains(Metrics(), m) }

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
	if t, turns, q := m.Latency(); t != NoTiming {
		return t != NTPOT && turns == AllTurns && slices.Contains(Quantiles(), q)
	}
	return !latencyKey.MatchString(string(m)) && !slices.Contains([]Metric{ScheduleLagP99, ReadLagP99, AddedTTFTP99, AddedGapP99}, m)
}

var latencyKey = regexp.MustCompile(`^(ttft|answer_ttft|tpot|ntpot|itl|latency)(?:_(first|followup))?_(p50|p75|p90|p95|p99|p99\.9|mean|sd|min|max)(?:_(with_failures))?_ms$`)

// Latency returns the parts of a quantile's key, and NoTiming for other metrics.
func (m Metric) Latency() (t Timing, turns Turns, quantile float64) {
	k := latencyKey.FindStringSubmatch(string(m))
	if k == nil || k[3][0] != 'p' {
		return NoTiming, AllTurns, math.NaN()
	}
	percentile, _ := strconv.ParseFloat(k[3][1:], 64)
	return Timing(k[1]), Turns(k[2] + k[4]), percentile / 100
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
}

// countedMetrics returns the metrics other than quantiles and statistics.
func countedMetrics() []description {
	all := []description{
		{ErrorPct, "Error %", "%", 1, LowerIsBetter},
		{TurnsPerSecond, "Completed turns/s", "", 2, HigherIsBetter},
		{ConversationStartsPerSecond, "Conversation starts/s", "", 2, HigherIsBetter},
		{GoodputPerSecond, "Goodput (turns/s within every SLO)", "", 2, HigherIsBetter},
		{OutputTokensPerSecond, "Output tokens/s", "", 1, HigherIsBetter},
		{PromptTokensPerSecond, "Prompt tokens/s", "", 0, HigherIsBetter},
		{OutputTokensPerTurn, "Output tokens/turn", "", 0, Neither},
		{KVHitRatePct, "Hit Rate", "%", 1, HigherIsBetter},
		{InFlightMean, "Turns in flight", "", 1, Neither},
		{InFlightMax, "Max Concurrent", "", 0, Neither},
		{Completed, "Completed", "", 0, Neither},
		{Failed, "Failed", "", 0, LowerIsBetter},
		{ScheduleLagP99, "Schedule lag p99", "ms", 1, LowerIsBetter},
		{ReadLagP99, "Read lag p99", "ms", 2, LowerIsBetter},
		{AddedTTFTP99, "At most added to TTFT, p99", "ms", 1, LowerIsBetter},
		{AddedGapP99, "At most added to a gap, p99", "ms", 1, LowerIsBetter},
		{ForeignAnswers, "Foreign answers", "", 0, LowerIsBetter},
	}
	for _, c := range recallClasses() {
		all = append(all, description{c.metric, c.title, "%", 1, HigherIsBetter})
	}
	return all
}

func (m Metric) describe() description {
	if k := latencyKey.FindStringSubmatch(string(m)); k != nil {
		t, statistic := Timing(k[1]), strings.Replace(k[3], SD, "SD", 1)
		d := description{m, t.Title() + " " + statistic, "ms", 0, LowerIsBetter}
		if turns := k[2] + k[4]; turns != "" {
			d.title += " (" + strings.ReplaceAll(turns, "_", " ") + ")"
		}
		return d
	}
	for _, d := range countedMetrics() {
		if d.metric == m {
			return d
		}
	}
	return description{}
}

// Title returns the column header.
func (m Metric) Title() string { return m.describe().title }

// Unit returns the suffix of values: "ms", "%" or "".
func (m Metric) Unit() string { return m.describe().unit }

// Better returns the better direction.
func (m Metric) Better() Direction { return m.describe().better }
