package watch

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"synthetic/internal/fleet"
)

// TestCostOfAMonth bounds the memory and the archive of a job with four weeks of history.
func TestCostOfAMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("lives through four weeks of two timings; make test-long runs it")
	}
	begin, rng := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), rand.New(rand.NewPCG(1, 2))
	past := make([]Minute, keptDays*dayMinutes)
	for i := range past {
		past[i] = Minute{At: begin.Add(time.Duration(i) * time.Minute), Turns: [kinds]float64{12, 24}}
		for k := range kinds {
			past[i].Mean[k] = math.Log(0.2) + 0.1*rng.NormFloat64()
			if keptDays*dayMinutes-i < ringMinutes {
				past[i].Mean[k] -= 1 // faster at last: the limit is known, too
			}
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	tracker, info := NewTracker(TrackerOptions{Now: func() time.Time { return begin.Add(keptDays * dayMinutes * time.Minute) }}), fleet.Job{}
	info.Target.Name, info.Workload.Name = "chat", "chat"
	tracker.Add(info)
	for i := range signalCount {
		tracker.Backfill(info.Key(), i, past)
	}
	held, saved := heap()-before, 0
	for _, data := range tracker.Histories() {
		saved = len(data)
	}
	t.Logf("a job holds %d kB, its history is %d kB", held/1000, saved/1000)
	if held > 500_000 || saved > 500_000 {
		t.Errorf("a job holds %d bytes and saves %d, want at most half a megabyte of each", held, saved)
	}
	if r, _ := tracker.Read(info.Key()); r.Signals[0].HalfHours < 27*slots || !r.Signals[0].Limit.OK || !r.Signals[1].Limit.OK {
		t.Errorf("after a month of usual turns it knows %+v", r.Signals)
	}
	runtime.KeepAlive(tracker)
	runtime.KeepAlive(past)
}
