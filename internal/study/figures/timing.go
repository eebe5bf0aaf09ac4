package figures

import (
	"fmt"
	"math"

	"synthetic/internal/sketch"
	"synthetic/internal/study/estimate"
	"synthetic/internal/study/runfile"
)

// pick takes one latency out of a kind's distributions.
func pick(timing string) func(runfile.Distributions) runfile.Distribution {
	return map[string]func(runfile.Distributions) runfile.Distribution{
		"ttft":        func(d runfile.Distributions) runfile.Distribution { return d.TTFT },
		"answer_ttft": func(d runfile.Distributions) runfile.Distribution { return d.AnswerTTFT },
		"tpot":        func(d runfile.Distributions) runfile.Distribution { return d.TPOT },
		"itl":         func(d runfile.Distributions) runfile.Distribution { return d.ITL },
		"latency":     func(d runfile.Distributions) runfile.Distribution { return d.Latency },
	}[timing]
}

// addTimings adds every quantile of every latency.
func (l *Level) addTimings(results []runfile.Result) {
	for _, timing := range Timings() {
		of := pick(timing.Key)
		for part, kinds := range parts() {
			series := timingSeries(results, of, kinds)
			for _, q := range Quantiles() {
				l.addTiming(TimingKey(timing.Key, part, q), estimate.Of(q, series, false))
				if part == "" && timing.Key != "itl" {
					l.addTiming(TimingKey(timing.Key, "with_failures", q), estimate.Of(q, series, true))
				}
			}
			if part == "" && timing.Key == "latency" {
				l.addMean(series)
			}
		}
	}
}

// parts are the populations: all turns, and each kind alone.
func parts() map[string]func(runfile.Block) []runfile.Distributions {
	return map[string]func(runfile.Block) []runfile.Distributions{
		"":         func(b runfile.Block) []runfile.Distributions { return []runfile.Distributions{b.First, b.Followup} },
		"first":    func(b runfile.Block) []runfile.Distributions { return []runfile.Distributions{b.First} },
		"followup": func(b runfile.Block) []runfile.Distributions { return []runfile.Distributions{b.Followup} },
	}
}

func timingSeries(results []runfile.Result, of func(runfile.Distributions) runfile.Distribution,
	kinds func(runfile.Block) []runfile.Distributions) []estimate.Series {
	all := make([]estimate.Series, len(results))
	for i, r := range results {
		for _, b := range blocks(r) {
			merged := runfile.Distribution{Values: &sketch.Sketch{}}
			for _, d := range kinds(b) {
				merged.Merge(of(d))
			}
			all[i] = append(all[i], estimate.Block{Values: merged.Values, Failures: merged.Failures})
		}
	}
	return all
}

// addTiming adds a quantile in ms. One that has no samples at all is left out;
// one that has too few, even if they were independent, says how many it takes.
// One whose turns resemble each other too much is told without the end of the
// interval that they do not support.
func (l *Level) addTiming(key string, e estimate.Quantile) {
	if math.IsNaN(e.Value) {
		return
	}
	f := Figure{Value: 1000 * e.Value, Low: 1000 * e.Low, High: 1000 * e.High, N: e.N, Quantile: true}
	if least := estimate.LeastFor(e.Q); e.N < least {
		f.Needed = least
	}
	l.Figures[key] = f
}

func (l *Level) addMean(series []estimate.Series) {
	values := estimate.Pool(series).Values
	if values.Count() > 0 {
		l.Figures["latency_mean_ms"] = Plain(1000 * values.Sum() / float64(values.Count()))
	}
}

// addLags adds how late the prober itself was.
func (l *Level) addLags(results []runfile.Result) {
	lags := map[string]func(runfile.Block) *sketch.Sketch{
		"schedule_lag_p99_ms": func(b runfile.Block) *sketch.Sketch { return b.ScheduleLag },
		"read_lag_p99_ms":     func(b runfile.Block) *sketch.Sketch { return b.ReadLag },
	}
	for key, of := range lags {
		var pooled sketch.Sketch
		for _, r := range results {
			for _, b := range blocks(r) {
				if s := of(b); s != nil {
					pooled.Merge(s)
				}
			}
		}
		if pooled.Count() > 0 {
			l.Figures[key] = Figure{Value: 1000 * pooled.Quantile(0.99), Low: math.NaN(), High: math.NaN(), N: pooled.Count()}
		}
	}
}

// drift is the change of the blocks' mean TTFT over a measurement, as a share
// of the mean, when a straight line through them rises or falls by more than
// chance (|t| > 4, which 30 blocks of one distribution reach in 1 of 2,000
// runs); the largest of the repetitions, else 0.
func drift(results []runfile.Result) float64 {
	largest := 0.0
	for _, r := range results {
		var means []float64
		for _, series := range timingSeries([]runfile.Result{r}, pick("ttft"), parts()[""]) {
			for _, b := range series {
				if b.Values.Count() > 0 {
					means = append(means, b.Values.Sum()/float64(b.Values.Count()))
				}
			}
		}
		if d, t := slope(means); math.Abs(t) > 4 && math.Abs(d) > math.Abs(largest) {
			largest = d
		}
	}
	return largest
}

// disagreement compares the TTFT p50 of repetitions with each other: the
// largest is named against the smallest when their 95 % intervals are apart
// and they differ by a tenth; "" otherwise.
func disagreement(results []runfile.Result) string {
	of := func(r runfile.Result) estimate.Quantile {
		return estimate.Of(0.5, timingSeries([]runfile.Result{r}, pick("ttft"), parts()[""]), false)
	}
	if len(results) < 2 {
		return ""
	}
	low, high := results[0], results[0]
	for _, r := range results[1:] {
		if of(r).Value < of(low).Value {
			low = r
		}
		if of(r).Value > of(high).Value {
			high = r
		}
	}
	a, b := of(low), of(high)
	if !a.Known() || !b.Known() || a.High >= b.Low || b.Value < 1.1*a.Value {
		return ""
	}
	return fmt.Sprintf("the repetitions disagree: TTFT p50 is %.0fms in repetition %d and %.0fms in repetition %d, so the level is less certain than its intervals say.",
		1000*a.Value, low.Repetition, 1000*b.Value, high.Repetition)
}

// slope fits a line through y at 0, 1, 2, …: its change from end to end over
// the mean of y, and Student's t of it.
func slope(y []float64) (change, t float64) {
	n := float64(len(y))
	if n < 6 {
		return 0, 0
	}
	var mean float64
	for _, v := range y {
		mean += v / n
	}
	var xx, xy, yy float64
	for i, v := range y {
		x := float64(i) - (n-1)/2
		xx += x * x
		xy += x * (v - mean)
		yy += (v - mean) * (v - mean)
	}
	b := xy / xx
	rest := max(yy-b*xy, 0) / (n - 2)
	if mean == 0 || yy == 0 {
		return 0, 0
	}
	return b * (n - 1) / mean, b / math.Sqrt(rest/xx)
}
