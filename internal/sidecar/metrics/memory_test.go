package metrics

import (
	"runtime"
	"testing"

	"synthetic/internal/probe"
)

// TestMemoryOf200Targets holds the promise of 25 MB of heap with every series
// alive, the frame of the last scrape included.
func TestMemoryOf200Targets(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector's heap is larger")
	}
	before := inUse()
	r := busyRecorder(200)
	_, done, err := r.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	done()
	held := inUse() - before
	runtime.KeepAlive(r)
	t.Logf("%.2f MB", float64(held)/1e6)
	if held > 25e6 {
		t.Errorf("200 targets hold %.1f MB of heap, promised are 25", float64(held)/1e6)
	}
}

// inUse is the heap in use after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first one only unlinked, pools for instance
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestObserveAllocatesNothing: garbage of the recorder would pause the
// conversations that are being timed. The events are made by who reports them.
func TestObserveAllocatesNothing(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	res := turn("a", probe.Followup, start, 300*millisecond, 20*millisecond, 800)
	events := []probe.Event{probe.Start{Target: res.Target, Workload: res.Workload, Kind: res.Kind}, res}
	observe := func() {
		for _, e := range events {
			r.Observe(e)
		}
	}
	if got := testing.AllocsPerRun(100, observe); got != 0 {
		t.Errorf("%v allocations a turn", got)
	}
}
