package stage

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/sidecar/watch"
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
	for signal, mean := range usual {
		var minutes []watch.Minute
		for at := now.Add(-lived); at.Before(now); at = at.Add(time.Minute) {
			m := watch.Minute{At: at}
			for k := range m.Turns {
				m.Turns[k], m.Mean[k] = turns, math.Log(mean.Seconds())+spread/math.Sqrt(turns)*rng.NormFloat64()
			}
			minutes = append(minutes, m)
		}
		past.Backfill(job, signal, minutes)
	}
	if err := store.Write(historyOf(stateFile), past.Histories()); err != nil {
		t.Fatal(err)
	}
}

// Remembered returns how many half hours the stored history of a job has.
func Remembered(t *testing.T, stateFile string, job probe.Key) (halfHours int) {
	t.Helper()
	kept, err := store.Read(historyOf(stateFile))
	if err != nil {
		t.Fatal(err)
	}
	past := trackerOf(job)
	past.Restore(watch.File{}, kept)
	reading, _ := past.Read(job)
	for _, v := range reading.Signals {
		halfHours += v.HalfHours
	}
	return halfHours
}

// trackerOf returns a tracker of one job.
func trackerOf(key probe.Key) *watch.Tracker {
	tracker, job := watch.NewTracker(watch.TrackerOptions{}), fleet.Job{}
	job.Target.Name, job.Workload.Name = key.Target, key.Workload
	tracker.Add(job)
	return tracker
}
