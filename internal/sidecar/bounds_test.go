package sidecar

import (
	"runtime/debug"
	"testing"

	"synthetic/internal/probe/target"
)

// TestMemoryBudget: what conversations may take is a quarter of the limit that Go
// has, or of 1 GiB where it has none.
func TestMemoryBudget(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for limit, want := range map[int64]float64{400 << 20: 100 << 20, 1<<63 - 1: 256 << 20} {
		debug.SetMemoryLimit(limit)
		if _, got := newGuards().memory.Level(); got != want {
			t.Errorf("of %d bytes %v are for conversations, want %v", limit, got, want)
		}
	}
}

// TestOnePacerForATarget: all jobs of a target share its pacer, over reloads, and
// a removed target leaves none behind.
func TestOnePacerForATarget(t *testing.T) {
	g := newGuards()
	a, b := g.pacer("a"), g.pacer("b")
	if a == b || g.pacer("a") != a {
		t.Error("targets do not have a pacer each")
	}
	g.keep([]target.Target{{Name: "a"}})
	if g.pacer("a") != a || len(g.pacers) != 1 {
		t.Errorf("%d pacers after one of two targets was removed", len(g.pacers))
	}
}
