package baseline

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// TestCostOfAMonth bounds the memory and the archive of a job with four weeks of history.
func TestCostOfAMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("lives through four weeks of four signals; make test-long runs it")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	minutes := make([]Minute, historyMinutes)
	for i := range minutes {
		minutes[i] = Minute{At: monday.Add(time.Duration(i) * time.Minute), Turns: 36, Mean: math.Log(0.2) + 0.1*rng.NormFloat64()}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	job := testJob(options{})
	for k := range kinds {
		for i := range signals {
			job.series[k][i].backfill(minutes)
		}
	}
	held, saved := heap()-before, len(job.archive())
	t.Logf("a job holds %d kB, its history is %d kB", held/1000, saved/1000)
	if held > 500_000 || saved > 1_000_000 {
		t.Errorf("a job holds %d bytes and saves %d, want at most half a megabyte, and one", held, saved)
	}
	if v := job.views(monday.Add(historyMinutes * time.Minute))[1][0]; v.History < 27*24*time.Hour {
		t.Errorf("after a month the history is of %v", v.History)
	}
	runtime.KeepAlive(job)
	runtime.KeepAlive(minutes)
}
