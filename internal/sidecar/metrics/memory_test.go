package metrics

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestMemoryOf200Targets checks the promise of 60 MB of heap with every series in use and
// scraped: from the first scrape on a histogram holds its buckets twice.
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

// TestMemoryOfATarget bounds the memory of a target after eight hours, when it has a baseline
// and a history.
func TestMemoryOfATarget(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector's heap is larger")
	}
	const targets, most = 10, 200_000
	before := inUse()
	c, names := &clock{start}, make([]string, targets)
	for i := range names {
		names[i] = fmt.Sprint("deployment-", i)
	}
	r := newTestRecorder(c, names...)
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 2 * 8 * 60 { // hours of two turns a minute
		c.now = start.Add(time.Duration(step) * 30 * time.Second)
		for _, name := range names {
			busyTurn(r, rng, name, 2*(step/2)%8+step%2, c.now) // without failures
		}
	}
	for range 2 {
		if _, err := r.Gather(); err != nil {
			t.Fatal(err)
		}
	}
	held := (inUse() - before) / targets
	runtime.KeepAlive(r)
	t.Logf("%d kB", held/1000)
	if held > most {
		t.Errorf("a target holds %d bytes after 8 hours, want %d at most", held, most)
	}
	if v, _ := r.baselines.Read(probe.Key{Target: names[0], Workload: "chat"}); v.Signals[0].HalfHours < 8 {
		t.Errorf("%d half hours are known, want those of hours", v.Signals[0].HalfHours)
	}
}

// inUse returns the size of the heap after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // frees what the first collection only unlinked, such as pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestObserveAllocatesLittle bounds the allocations for a turn, because collections
// would pause the timed conversations. Only exemplars allocate.
func TestObserveAllocatesLittle(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	for trace, most := range map[string]float64{"": 0, "4bf92f3577b34da6a3ce929d0e0e4736": 20} {
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
