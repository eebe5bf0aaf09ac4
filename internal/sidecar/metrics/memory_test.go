package metrics

import (
	"runtime"
	"testing"

	"synthetic/internal/probe"
)

// TestMemoryOf200Targets holds the promise of 60 MB of heap with every series
// alive and scraped: a histogram holds its buckets twice from then on.
func TestMemoryOf200Targets(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector's heap is larger")
	}
	before := inUse()
	r := busyRecorder(200)
	for range 2 {
		if _, err := r.Gather(); err != nil {
			t.Fatal(err)
		}
	}
	held := inUse() - before
	runtime.KeepAlive(r)
	t.Logf("%.2f MB", float64(held)/1e6)
	if held > 60e6 {
		t.Errorf("200 targets hold %.1f MB of heap, promised are 60", float64(held)/1e6)
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

// TestObserveAllocatesItsExemplarsAlone: garbage of the recorder would pause the
// conversations that are being timed. The gaps of a turn make none. Its three
// exemplars make 23 objects, some 2 kB, in client_golang; the events are made by
// who reports them.
func TestObserveAllocatesItsExemplarsAlone(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	for trace, most := range map[string]float64{"": 0, "4bf92f3577b34da6a3ce929d0e0e4736": 23} {
		res := turn("a", probe.Followup, start, 300*millisecond, 20*millisecond, 800)
		res.TraceID = trace
		events := []probe.Event{probe.Start{Target: res.Target, Workload: res.Workload, Kind: res.Kind}, res}
		observe := func() {
			for _, e := range events {
				r.Observe(e)
			}
		}
		if got := testing.AllocsPerRun(100, observe); got > most {
			t.Errorf("trace %q: %v allocations a turn, want at most %v", trace, got, most)
		}
	}
}
