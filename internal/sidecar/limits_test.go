package sidecar

import (
	"runtime/debug"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
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

// TestJobsShareWhatTheyLearned: all jobs of a target share it while its deployment is the same, and it is dropped with
// the last of them.
func TestJobsShareWhatTheyLearned(t *testing.T) {
	job := func(name, url, model string, api dialect.Name, workloadName string) *probe.Job {
		return &probe.Job{Target: target.Target{Name: name, BaseURL: url, Model: model, API: api}, Workload: workload.Spec{Name: workloadName}}
	}
	g := newResources()
	first, second := job("a", "u", "m", "chat", "first"), job("a", "u", "m", "chat", "second")
	a, b := g.learnedOf(first), g.learnedOf(job("b", "u", "m", "chat", "first"))
	if a == b || g.learnedOf(second) != a || g.learnedOf(first) != a {
		t.Error("two targets share it, or two jobs of a target do not")
	}
	for _, changed := range []*probe.Job{job("a", "v", "m", "chat", "first"), job("a", "v", "n", "chat", "first"), job("a", "v", "n", "messages", "first")} {
		if c := g.learnedOf(changed); c == a || g.learnedOf(changed) != c {
			t.Errorf("what %s learned is kept for %s, model %s", second.Target.BaseURL, changed.Target.BaseURL, changed.Target.Model)
		}
	}
	g.forget(first.Key())
	if g.learnedOf(second) != a {
		t.Error("it was dropped before the last job of the target")
	}
	g.forget(second.Key())
	if len(g.learned) != 1 {
		t.Errorf("%v is left", g.learned)
	}
}
