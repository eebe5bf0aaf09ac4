package main

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A collection costs CPU time for each live byte, and Go collects when the garbage reaches a percentage of the live bytes.
// With 1,000 targets, much is alive and little is allocated: a low percentage saves memory and costs little. With 1,000
// streams in flight, little is alive and much is allocated: at 25 % there were two collections per second. So the percentage
// is the lowest one that leaves room for the garbage of garbagePeriod, and at least lowestGCPercent.
const (
	// lowestGCPercent means a collection for each MB allocated while almost nothing is alive, as with one target.
	lowestGCPercent = 25
	garbagePeriod   = 2 * time.Second
	// gcInterval is how often allocations are counted. Each count has a weight of 1/gcWeight in the mean rate, so that a
	// scrape does not look like many streams. The first gcWeight counts have equal weights. The process starts in the
	// first interval, so that one is not counted.
	gcInterval = time.Second
	gcWeight   = 8
	// gcMinimum is what Go's collector assumes to be alive if less is.
	gcMinimum = 4 << 20
)

// adaptCollector adapts the percentage of the collector to the rate of allocations until stop is called. It does nothing if
// the user has set GOGC.
func adaptCollector() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(lowestGCPercent)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		adaptGC(end, heapNow, func(percent int) { debug.SetGCPercent(percent) })
	}()
	return func() {
		close(end)
		<-ended
	}
}

// adaptGC calls set when the rate of allocations needs another percentage, until end is closed.
func adaptGC(end <-chan struct{}, now func() heap, set func(percent int)) {
	ticker := time.NewTicker(gcInterval)
	defer ticker.Stop()
	rate, percent, last := 0.0, lowestGCPercent, now().allocated
	for n := 0.0; ; n++ {
		select {
		case <-end:
			return
		case <-ticker.C:
		}
		h := now()
		if n > 0 {
			rate += (float64(h.allocated-last)/gcInterval.Seconds() - rate) / min(n, gcWeight)
		}
		last = h.allocated
		// Each call locks the heap, so small differences are ignored.
		if next := gcPercent(rate, h.alive); math.Abs(float64(next-percent)) > float64(percent)/8 {
			percent = next
			set(percent)
		}
	}
}

// gcPercent returns the percentage for a rate of allocations in bytes per second and a number of live bytes.
func gcPercent(rate float64, alive uint64) int {
	room := rate * garbagePeriod.Seconds()
	return max(lowestGCPercent, int(100*room/float64(max(alive, gcMinimum))))
}

// heap holds bytes: all that the process has allocated, and what was alive at the last collection.
type heap struct{ allocated, alive uint64 }

func heapNow() heap {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(s)
	return heap{s[0].Value.Uint64(), s[1].Value.Uint64() + s[2].Value.Uint64() + s[3].Value.Uint64()}
}
