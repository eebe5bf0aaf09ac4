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

// TestOnePacerForATarget: all jobs of a target share its pacer, which is dropped with the last of them.
func TestOnePacerForATarget(t *testing.T) {
	g := newResources()
	first, second := probe.Key{Target: "a", Workload: "first"}, probe.Key{Target: "a", Workload: "second"}
	a, b := g.forJob(first), g.forJob(probe.Key{Target: "b", Workload: "first"})
	if a == b || g.forJob(second) != a || g.forJob(first) != a {
		t.Error("two targets share a pacer, or two jobs of a target do not")
	}
	g.forget(first)
	if g.ofTarget("a") != a {
		t.Error("the pacer was dropped before the last job of the target")
	}
	g.forget(second)
	if d := g.throttled("a"); d != 0 || g.ofTarget("a") != nil || g.ofTarget("b") != b {
		t.Errorf("after the last job of one of two targets: %v waited, shared %v", d, g.shared)
	}
}
