package store

import (
	"math"
	"slices"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
)

// reading holds the counters of one process at one time, in the order of counters; NaN if
// missing.
type reading [3]float64

// grid holds readings one step apart.
type grid []reading

func newGrid(span promv1.Range, v float64) grid {
	g := make(grid, span.End.Sub(span.Start)/step+1)
	for i := range g {
		g[i] = reading{v, v, v}
	}
	return g
}

// minutesOf turns the counters of several processes into minutes. It takes the differences of
// each process separately: in a sum, a restart would be hidden.
func minutesOf(matrix model.Matrix, span promv1.Range) Minutes {
	processes, of := map[model.Fingerprint]grid{}, map[model.Fingerprint]Series{}
	for _, stream := range matrix {
		counter := slices.Index(counters(), string(stream.Metric[model.MetricNameLabel]))
		series, ok := seriesOf(stream.Metric)
		if counter < 0 || !ok {
			continue
		}
		delete(stream.Metric, model.MetricNameLabel)
		process := stream.Metric.Fingerprint()
		if of[process] = series; processes[process] == nil {
			processes[process] = newGrid(span, math.NaN())
		}
		for _, v := range stream.Values {
			if i := v.Timestamp.Time().Sub(span.Start) / step; i >= 0 && int(i) < len(processes[process]) {
				processes[process][i][counter] = float64(v.Value)
			}
		}
	}
	rose := map[Series]grid{}
	for process, readings := range processes {
		series := of[process]
		if rose[series] == nil {
			rose[series] = newGrid(span, 0)
		}
		difference(readings, rose[series])
	}
	out := Minutes{}
	for series, sums := range rose {
		for i, sum := range sums {
			if m := minute(span.Start.Add(time.Duration(i)*step), sum); m.Turns > 0 && m.Turns < mostTurns && plausible(m.Mean) {
				out[series] = append(out[series], m)
			}
		}
	}
	return out
}

func seriesOf(m model.Metric) (Series, bool) {
	s := Series{
		Kind:   slices.Index(probe.TurnKinds(), probe.TurnKind(m[metrics.LabelTurn])),
		Signal: slices.Index(sink.Signals(), sink.Signal(m[metrics.LabelSignal])),
	}
	return s, s.Kind >= 0 && s.Signal >= 0
}

// difference adds the increases of one process's counters to sums, by the start of the minute.
// It skips an increase over a gap, which belongs to no single minute.
func difference(readings, sums grid) {
	for i := 1; i < len(readings); i++ {
		before, now := readings[i-1], readings[i]
		if math.IsNaN(before[0]) || math.IsNaN(now[0]) {
			continue
		}
		if now[0] < before[0] { // the process has restarted, and its counters with it
			before = reading{}
		}
		for c := range now {
			sums[i-1][c] += now[c] - before[c]
		}
	}
}

// sameLog2 is the largest difference of two mean logarithms that count as equal. A turn without
// a baseline counts as on its baseline.
const sameLog2 = 1e-6

// minute converts increases to means of the natural logarithm of seconds. The counters hold
// binary logarithms of microseconds.
func minute(at time.Time, rose reading) baseline.Minute {
	turns, log2, expected := rose[0], rose[1], rose[2]
	seconds := func(log2 float64) float64 { return log2/turns*math.Ln2 - math.Log(1e6) }
	m := baseline.Minute{At: at.UTC(), Turns: turns, Mean: seconds(log2), Baseline: seconds(expected)}
	if math.Abs(log2-expected) <= sameLog2*turns || !plausible(m.Baseline) {
		m.Baseline = math.NaN()
	}
	return m
}

// mostTurns is more than one prober can have in a minute.
const mostTurns = 1e6

// plausible reports whether v can be the logarithm of a latency in seconds: from 1 µs, the
// smallest value of the counters, to a day. NaN cannot.
func plausible(ln float64) bool {
	return ln >= -math.Log(1e6)-sameLog2 && ln <= math.Log(24*3600)
}
