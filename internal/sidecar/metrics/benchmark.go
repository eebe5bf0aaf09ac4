package metrics

import (
	"fmt"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
)

// Benchmark says which level of which measurement a job is compared with.
type Benchmark struct {
	Run, Variant, Level string
	// Pooled says that it does not tell first turns from follow-up turns.
	Pooled bool
}

// benchmarked is a benchmark with its figures.
type benchmarked struct {
	source  Benchmark
	figures regression.Benchmarks
}

// Geomean is the value of LabelStatistic of the geometric mean; the others are
// those of Statistic.
const Geomean = "geomean"

// Statistic is the value of LabelStatistic of a quantile: "p95" of 0.95.
func Statistic(q float64) string { return fmt.Sprintf("p%g", 100*q) }

// addBenchmark adds what a job's turns are expected to take. It changes with the
// configuration alone.
func (f *frame) addBenchmark(job labels, b benchmarked) {
	turns := "by_kind"
	if b.source.Pooled {
		turns = "pooled"
	}
	f.constant(ExpectedInfo, job.with(pair("run", b.source.Run), pair("variant", b.source.Variant), pair("level", b.source.Level), pair("turns", turns)), 1)
	for k := range probe.TurnKinds() {
		for i, signal := range f.words.signals {
			f.addExpected(job.with(f.words.turns[k], signal), b.figures[k][i])
		}
	}
}

// addExpected adds the figures of a signal that are known.
func (f *frame) addExpected(l labels, b regression.Benchmark) {
	add := func(statistic string, d time.Duration) {
		if d > 0 {
			f.constant(Expected, l.with(pair(LabelStatistic, statistic)), d.Seconds())
		}
	}
	add(Geomean, b.Typical)
	for i, q := range regression.Quantiles() {
		add(Statistic(q), b.Quantiles[i])
	}
	if b.Samples > 0 {
		f.constant(ExpectedTurns, l, float64(b.Samples))
	}
}
