package main

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCollectionsAreRare: the percentage of the collector follows the rate of allocations and what is alive.
func TestCollectionsAreRare(t *testing.T) {
	t.Parallel()
	const mb = 1_000_000
	for name, tt := range map[string]struct {
		alive     uint64
		perSecond func(second int) uint64 // allocated
		want      func(sets []int) bool   // the percentages of a minute
	}{
		"1,000 streams": {30 * mb, steady(14 * mb), between(80, 95)},
		"1,000 targets, each with two turns a minute, and a scrape every 15 s": {150 * mb, func(s int) uint64 {
			if s%15 == 0 {
				return 55 * mb
			}
			return 5 * mb
		}, between(25, 25)},
		"one target, which is scraped every 15 s": {5 * mb, func(s int) uint64 {
			if s%15 == 0 {
				return mb
			}
			return 0
		}, between(25, 25)},
		"a start that allocates much": {5 * mb, func(s int) uint64 {
			if s == 1 {
				return 30 * mb
			}
			return 0
		}, func(sets []int) bool { return len(sets) == 1 }},
		"few bytes alive":             {mb, steady(mb), between(45, 50)}, // as with 4 MiB alive
		"before the first collection": {0, steady(mb), between(45, 50)},
	} {
		synctest.Test(t, func(t *testing.T) {
			sets, begun := []int{lowestGCPercent}, time.Now()
			end, allocated, second := make(chan struct{}), uint64(1e9), 0
			adaptGC(end, func() heap {
				if second = int(time.Since(begun).Seconds()); second > 0 {
					allocated += tt.perSecond(second)
				}
				if second == 60 {
					close(end)
				}
				return heap{allocated, tt.alive}
			}, func(percent int) { sets = append(sets, percent) })
			if !tt.want(sets) || slices.Min(sets) < lowestGCPercent || len(sets) > 20 {
				t.Errorf("%s: set %d", name, sets)
			}
		})
	}
}

func steady(n uint64) func(int) uint64 { return func(int) uint64 { return n } }

// between is about the last percentage.
func between(low, high int) func([]int) bool {
	return func(sets []int) bool { n := sets[len(sets)-1]; return low <= n && n <= high }
}

// expectAdapted sets a percentage that no process chooses. The returned function fails the test if no collector has been
// adapted since. Tests that use it do not run in parallel.
func expectAdapted(t *testing.T) (check func()) {
	t.Setenv("GOGC", "")
	const unused = 123_456
	before := debug.SetGCPercent(unused)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	return func() {
		t.Helper()
		if got := debug.SetGCPercent(before); got == unused {
			t.Error("the percentage of the collector was not set")
		}
	}
}

// TestCollectsEarly: a process with little to do has the lowest percentage.
func TestCollectsEarly(t *testing.T) {
	t.Parallel()
	cmd, _, _ := newProcess("run", "--config.file="+configFor(t, ", model: m", map[string]string{"a": "http://127.0.0.1:1"}), "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=0s")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
	if got := serveAs(t, cmd).series()["go_gc_gogc_percent"]; got != lowestGCPercent {
		t.Errorf("%v%%, want %d%%", got, lowestGCPercent)
	}
}
