package stage

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sidecar/store"
)

// HistoryOf is where the past is kept of what a state file has the present of.
func HistoryOf(stateFile string) string { return stateFile + ".history" }

// Remember leaves beside a state file what a prober knows that has measured a job for
// days: ten turns a minute, with these geometric means of the TTFT and the TPOT.
func Remember(t *testing.T, stateFile string, job probe.Key, usual [2]time.Duration) {
	t.Helper()
	const lived, turns, spread = 4 * 24 * time.Hour, 10, 0.3
	past, rng := baseline.NewJob(baseline.Options{}), rand.New(rand.NewPCG(1, 2))
	now := time.Now().Truncate(time.Minute)
	for kind := range probe.TurnKinds() {
		for signal, mean := range usual {
			var minutes []baseline.Minute
			for at := now.Add(-lived); at.Before(now); at = at.Add(time.Minute) {
				noise := spread / math.Sqrt(turns) * rng.NormFloat64()
				minutes = append(minutes, baseline.Minute{At: at, Turns: turns, Mean: math.Log(mean.Seconds()) + noise, Baseline: math.NaN()})
			}
			past.Backfill(kind, signal, minutes)
		}
	}
	if err := store.Write(HistoryOf(stateFile), maps.All(map[probe.Key][]byte{job: past.History()})); err != nil {
		t.Fatal(err)
	}
}

// Remembered is how many turns the kept baselines of a job stand on.
func Remembered(t *testing.T, stateFile string, job probe.Key) (turns float64) {
	t.Helper()
	kept, err := store.Read(HistoryOf(stateFile))
	if err != nil {
		t.Fatal(err)
	}
	past := baseline.NewJob(baseline.Options{})
	if err := past.RestoreHistory(kept[job]); err != nil {
		t.Fatal(err)
	}
	for kind := range probe.TurnKinds() {
		for signal := range sink.Signals() {
			turns += past.View(kind, signal, time.Now()).Samples
		}
	}
	return turns
}
