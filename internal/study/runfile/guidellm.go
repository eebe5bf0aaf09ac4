package runfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"synthetic/internal/probe"
	"synthetic/internal/turnlog"
)

// exportedLevel is one benchmark of GuideLLM: the repetitions of a level.
type exportedLevel struct {
	target string
	level  float64
	rate   bool
}

type levelValues struct {
	latency, ttft, answer, tpot, ntpot, prompt, output []float64
	failed                                             int
	// by repetition
	spans map[int]timeSpan
}

// timeSpan is the time between the first and the last end of its turns.
type timeSpan struct {
	from, to time.Time
	turns    float64
}

func (v *levelValues) add(t *turnlog.Turn, s turnlog.Study) {
	end := t.At.Add(t.TotalDuration())
	w, known := v.spans[s.Repetition]
	if !known {
		w = timeSpan{from: end, to: end}
	}
	v.spans[s.Repetition] = timeSpan{Earlier(w.from, end), Later(w.to, end), w.turns + 1}
	if t.Outcome != probe.Success {
		v.failed++
		return
	}
	length := t.TotalDuration()
	v.latency = append(v.latency, length.Seconds())
	v.ttft = appendKnown(v.ttft, millis(t.TTFT.V), t.TTFT.OK)
	v.answer = appendKnown(v.answer, millis(s.AnswerTTFT.V), s.AnswerTTFT.OK)
	v.tpot = appendKnown(v.tpot, millis(t.TPOT.V), t.TPOT.OK)
	v.prompt = appendKnown(v.prompt, float64(t.PromptTokens.V), t.PromptTokens.OK)
	v.output = appendKnown(v.output, float64(t.OutputTokens.V), t.OutputTokens.OK)
	v.ntpot = appendKnown(v.ntpot, millis(length)/float64(t.OutputTokens.V), t.OutputTokens.V > 0)
}

func appendKnown(all []float64, v float64, known bool) []float64 {
	if known {
		return append(all, v)
	}
	return all
}

// seconds returns the measured time. n ends have n − 1 gaps between them.
func (v *levelValues) seconds() (sum float64) {
	for _, w := range v.spans {
		if w.turns > 1 {
			sum += w.to.Sub(w.from).Seconds() * w.turns / (w.turns - 1)
		}
	}
	return sum
}

// writeGuideLLM writes benchmarks.json with the statistics of the measured turns of each level.
// The other formats have the turns themselves.
func writeGuideLLM(to io.Writer, next turnlog.Next) error {
	all := map[exportedLevel]*levelValues{}
	err := eachTurn(next, func(t *turnlog.Turn, s turnlog.Study) error {
		if s.Phase != turnlog.Measured || t.Outcome.Own() {
			return nil
		}
		p := exportedLevel{t.Target, s.Level, s.Rate}
		if all[p] == nil {
			all[p] = &levelValues{spans: map[int]timeSpan{}}
		}
		all[p].add(t, s)
		return nil
	})
	if err != nil {
		return err
	}
	places := slices.SortedFunc(maps.Keys(all), func(a, b exportedLevel) int {
		return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.level, b.level))
	})
	benchmarks := []any{}
	for _, p := range places {
		benchmarks = append(benchmarks, all[p].benchmark(p))
	}
	enc := json.NewEncoder(to)
	enc.SetIndent("", " ")
	if err := enc.Encode(map[string]any{"type_": "generative_benchmarks_report", "metadata": map[string]string{"tool": "synthetic"}, "benchmarks": benchmarks}); err != nil {
		return fmt.Errorf("writing benchmarks.json: %w", err)
	}
	return nil
}

func (v *levelValues) benchmark(p exportedLevel) any {
	spans := slices.Collect(maps.Values(v.spans))
	first := slices.MinFunc(spans, func(a, b timeSpan) int { return a.from.Compare(b.from) })
	last := slices.MaxFunc(spans, func(a, b timeSpan) int { return a.to.Compare(b.to) })
	rate := func(sum float64) map[string]any {
		if v.seconds() == 0 {
			return guidellmSummary(nil)
		}
		return guidellmSummary([]float64{sum / v.seconds()})
	}
	done := len(v.latency)
	return map[string]any{
		"type_": "generative_benchmark", "start_time": unix(first.from), "end_time": unix(last.to), "duration": v.seconds(),
		"config": map[string]any{"strategy": p.strategy(), "variant": p.target},
		"metrics": map[string]any{
			"request_totals":      map[string]int{"successful": done, "errored": v.failed, "incomplete": 0, "total": done + v.failed},
			"requests_per_second": rate(float64(done)), "output_tokens_per_second": rate(floats.Sum(v.output)), "request_latency": guidellmSummary(v.latency),
			"time_to_first_token_ms": guidellmSummary(v.ttft), "time_to_first_output_token_ms": guidellmSummary(v.answer),
			"inter_token_latency_ms": guidellmSummary(v.tpot), "time_per_output_token_ms": guidellmSummary(v.ntpot),
			"prompt_token_count": guidellmSummary(v.prompt), "output_token_count": guidellmSummary(v.output),
		},
	}
}

func (p exportedLevel) strategy() map[string]any {
	if p.rate {
		return map[string]any{"type_": "poisson", "rate": p.level}
	}
	return map[string]any{"type_": "concurrent", "streams": p.level}
}

func unix(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// guidellmSummary returns the statistics of values. Without values they are 0, as in GuideLLM.
func guidellmSummary(v []float64) map[string]any {
	slices.Sort(v)
	known := v
	if len(known) == 0 {
		known = []float64{0}
	}
	at := func(q float64) float64 { return stat.Quantile(q, stat.Empirical, known, nil) }
	percentiles := map[string]float64{}
	for name, q := range map[string]float64{
		"p001": 0.001, "p01": 0.01, "p05": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999,
	} {
		percentiles[name] = at(q)
	}
	mean, variance := stat.PopMeanVariance(known, nil)
	return map[string]any{"successful": map[string]any{
		"mean": mean, "median": at(0.5), "mode": at(0.5), "variance": variance, "std_dev": math.Sqrt(variance),
		"min": at(0), "max": at(1), "count": len(v), "total_sum": floats.Sum(v), "percentiles": percentiles,
	}}
}
