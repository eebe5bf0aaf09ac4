package sidecar

import (
	"runtime/debug"
	"testing"

	"synthetic/internal/probe"
)

// TestMemoryBudget: conversations may use a quarter of the memory limit, or of 1 GiB without a limit.
func TestMemoryBudget(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for limit, want := range map[int64]float64{400 << 20: 100 << 20, 1<<63 - 1: 256 << 20} {
		debug.SetMemoryLimit(limit)
		if _, got := newResources().memory.Level(); got != want {
			t.Errorf("of %d bytes, conversations may use %v, want %v", limit, got, want)
		}
	}
}

// TestJobsShareWhatTheyLearned: all jobs of a target share it, and it is dropped with the last of them.
func TestJobsShareWhatTheyLearned(t *testing.T) {
	g := newResources()
	first, second := probe.Key{Target: "a", Workload: "first"}, probe.Key{Target: "a", Workload: "second"}
	a, b := g.learnedOf(first), g.learnedOf(probe.Key{Target: "b", Workload: "first"})
	if a == b || g.learnedOf(second) != a || g.learnedOf(first) != a {
		t.Error("two targets share it, or two jobs of a target do not")
	}
	g.forget(first)
	if g.learned[second] != a {
		t.Error("it was dropped before the last job of the target")
	}
	g.forget(second)
	if len(g.learned) != 1 {
		t.Errorf("%v is left", g.learned)
	}
}
