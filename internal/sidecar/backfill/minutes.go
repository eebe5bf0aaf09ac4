package backfill

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
)

// reading is the counters of one process at one time, by index of counters; NaN
// where there is none.
type reading [3]float64

// minutesOf turns the counters of any number of processes into minutes. Each
// process is differenced for itself: a sum of them would hide that one began
// anew.
func minutesOf(matrix model.Matrix) Minutes {
	processes := map[model.Fingerprint]map[model.Time]reading{}
	of := map[model.Fingerprint]Series{}
	for _, stream := range matrix {
		counter := slices.Index(counters(), string(stream.Metric[model.MetricNameLabel]))
		series, ok := seriesOf(stream.Metric)
		if counter < 0 || !ok {
			continue
		}
		delete(stream.Metric, model.MetricNameLabel)
		process := stream.Metric.Fingerprint()
		of[process] = series
		if processes[process] == nil {
			processes[process] = make(map[model.Time]reading, len(stream.Values))
		}
		for _, v := range stream.Values {
			r, ok := processes[process][v.Timestamp]
			if !ok {
				r = reading{math.NaN(), math.NaN(), math.NaN()}
			}
			r[counter] = float64(v.Value)
			processes[process][v.Timestamp] = r
		}
	}
	sums := map[Series]map[model.Time]reading{}
	for process, readings := range processes {
		series := of[process]
		if sums[series] == nil {
			sums[series] = map[model.Time]reading{}
		}
		difference(readings, sums[series])
	}
	out := Minutes{}
	for series, sum := range sums {
		out[series] = inOrder(sum)
	}
	return out
}

// seriesOf reads the labels of a series.
func seriesOf(m model.Metric) (Series, bool) {
	s := Series{
		Kind:   slices.Index(probe.TurnKinds(), probe.TurnKind(m[metrics.LabelTurn])),
		Signal: slices.Index(regression.Signals(), regression.Signal(m[metrics.LabelSignal])),
	}
	return s, s.Kind >= 0 && s.Signal >= 0
}

// difference adds to sums, by the beginning of the minute, what the counters of
// one process rose by. What rose over a gap is left out: it is not of one minute.
func difference(readings, sums map[model.Time]reading) {
	for at, now := range readings {
		began := at.Add(-step)
		before, ok := readings[began]
		if !ok {
			continue
		}
		if now[0] < before[0] { // a process began anew, and its counters with it
			before = reading{}
		}
		sum := sums[began]
		for i := range sum {
			sum[i] += now[i] - before[i]
		}
		sums[began] = sum
	}
}

// inOrder are the minutes that something was measured in.
func inOrder(sums map[model.Time]reading) []regression.Minute {
	out := make([]regression.Minute, 0, len(sums))
	for at, sum := range sums {
		if m := minute(at.Time(), sum); m.Turns > 0 && !math.IsNaN(m.Mean) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b regression.Minute) int { return cmp.Compare(a.At.Unix(), b.At.Unix()) })
	return out
}

// sameLog2 is how near two logarithms must be on average to be of one value: a
// turn that was compared with nothing counts as on its baseline.
const sameLog2 = 1e-6

// minute turns what the counters rose by into means of the natural logarithm of
// seconds; the counters are binary logarithms of microseconds.
func minute(at time.Time, rose reading) regression.Minute {
	turns, log2, baseline := rose[0], rose[1], rose[2]
	seconds := func(log2 float64) float64 { return log2/turns*math.Ln2 - math.Log(1e6) }
	m := regression.Minute{At: at.UTC(), Turns: turns, Mean: seconds(log2), Baseline: seconds(baseline)}
	if math.Abs(log2-baseline) <= sameLog2*turns {
		m.Baseline = math.NaN()
	}
	return m
}
