package stage

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sidecar/store"
)

// historyOf returns the path of the history beside a state file.
func historyOf(stateFile string) string { return stateFile + ".history" }

// Remember writes the history of a prober that has measured a job for days: ten turns a
// minute with the geometric means usual of TTFT and TPOT.
func Remember(t *testing.T, stateFile string, job probe.Key, usual [2]time.Duration) {
	t.Helper()
	const lived, turns, spread = 8 * 24 * time.Hour, 10, 0.3
	past, rng := trackerOf(job), rand.New(rand.NewPCG(1, 2))
	now := time.Now().Truncate(time.Minute)
	for kind := range probe.TurnKinds() {
		for signal, mean := range usual {
			var minutes []baseline.Minute
			for at := now.Add(-lived); at.Before(now); at = at.Add(time.Minute) {
				noise := spread / math.Sqrt(turns) * rng.NormFloat64()
				minutes = append(minutes, baseline.Minute{At: at, Turns: turns, Mean: math.Log(mean.Seconds()) + noise})
			}
			past.Backfill(job, kind, signal, minutes)
		}
	}
	if err := store.Write(historyOf(stateFile), past.Histories()); err != nil {
		t.Fatal(err)
	}
}

// Remembered returns how many turns the stored baselines of a job have.
func Remembered(t *testing.T, stateFile string, job probe.Key) (turns float64) {
	t.Helper()
	kept, err := store.Read(historyOf(stateFile))
	if err != nil {
		t.Fatal(err)
	}
	past := trackerOf(job)
	past.Restore(baseline.File{}, kept)
	reading, _ := past.Read(job)
	for _, signals := range reading.Views {
		for _, v := range signals {
			turns += v.Samples
		}
	}
	return turns
}

// trackerOf returns a tracker of one job.
func trackerOf(key probe.Key) *baseline.Tracker {
	tracker, job := baseline.NewTracker(baseline.TrackerOptions{}), sink.Job{}
	job.Target.Name, job.Workload.Name = key.Target, key.Workload
	tracker.Add(job)
	return tracker
}
