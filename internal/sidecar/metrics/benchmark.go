package metrics

import (
	"fmt"
	"strconv"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// geomean is the value of labelStatistic for the geometric mean. Statistic returns the others.
const geomean = "geomean"

// Statistic returns the value of labelStatistic for a quantile: "p95" for 0.95.
func Statistic(q float64) string { return fmt.Sprintf("p%g", 100*q) }

// gatherBenchmark adds the known figures of a job's benchmark.
func gatherBenchmark(e *exposition, l labels, b *sink.Benchmark) {
	turns := "by_kind"
	if b.Pooled {
		turns = "pooled"
	}
	e.add(expectedInfo, l.with("run", b.Run).with("variant", b.Variant).
		with("level", strconv.FormatFloat(b.Level, 'g', -1, 64)).with("turns", turns), 1)
	for k, kind := range probe.TurnKinds() {
		for i, signal := range sink.Signals() {
			gatherExpected(e, l.with(LabelTurn, string(kind)).with(LabelSignal, string(signal)), b.Figures[k][i])
		}
	}
}

func gatherExpected(e *exposition, l labels, b sink.SignalFigures) {
	add := func(statistic string, d time.Duration) {
		if d > 0 {
			e.add(expected, l.with(labelStatistic, statistic), d.Seconds())
		}
	}
	add(geomean, b.Typical)
	for i, q := range sink.Quantiles() {
		add(Statistic(q), b.Quantiles[i])
	}
	if b.Samples > 0 {
		e.add(expectedTurns, l, float64(b.Samples))
	}
}
