package sidecar

import (
	"runtime/debug"
	"testing"

	"synthetic/internal/probe"
)

// TestMemoryBudget: what conversations may take is a quarter of the limit that Go
// has, or of 1 GiB where it has none.
func TestMemoryBudget(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for limit, want := range map[int64]float64{400 << 20: 100 << 20, 1<<63 - 1: 256 << 20} {
		debug.SetMemoryLimit(limit)
		if _, got := newResources().memory.Level(); got != want {
			t.Errorf("of %d bytes %v are for conversations, want %v", limit, got, want)
		}
	}
}

// TestOnePacerForATarget: all jobs of a target share its pacer, which goes with the
// last of them; asking makes none.
func TestOnePacerForATarget(t *testing.T) {
	g := newResources()
	first, second := probe.Key{Target: "a", Workload: "first"}, probe.Key{Target: "a", Workload: "second"}
	a, b := g.forJob(first), g.forJob(probe.Key{Target: "b", Workload: "first"})
	if a == b || g.forJob(second) != a || g.forJob(first) != a {
		t.Error("targets do not have a pacer each")
	}
	g.forget(first)
	if g.of("a") != a {
		t.Error("the pacer went before the target's last job")
	}
	g.forget(second)
	if d := g.throttled("a"); d != 0 || g.of("a") != nil || g.of("b") != b {
		t.Errorf("after the last job of one of two targets: %v waited, shared %v", d, g.shared)
	}
}
