package sidecar

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/bound"
	"synthetic/internal/config"
	"synthetic/internal/fleet"
)

// TestRejectedReloadsKeepNothing: after five rejected reloads of large files the heap is as large as before.
func TestRejectedReloadsKeepNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the first one moves the content of pools, the second one frees it
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	write(configOf("a"))
	s, err := New(Options{ConfigFile: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	var before int64
	for i := range 6 {
		if i == 1 { // the first one fills the caches of types
			before = heap()
		}
		var bad strings.Builder
		for n := range 2000 {
			fmt.Fprintf(&bad, "  - {name: t%d-%d, base_url: 'http://a.example/v1', modell: %s}\n", i, n, strings.Repeat("x", 1000))
		}
		write("targets:\n" + bad.String())
		if err := s.Load(); err == nil || !strings.Contains(err.Error(), "and 1980 more: correct these first") {
			t.Fatalf("got %.300v", err)
		}
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("five rejected reloads of 2 MB keep %d bytes", grown)
	}
	if got := len(s.written.Targets); got != 1 {
		t.Errorf("%d targets are in force, want 1", got)
	}
}

// TestTooManyJobs: a process refuses more jobs than it can hold, and names the remedy. Its metric of this limit
// exceeds it until a smaller configuration comes.
func TestTooManyJobs(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(configOf("a")), "")
	if err != nil {
		t.Fatal(err)
	}
	large := *cfg
	for len(large.Jobs) <= fleet.MaxJobs {
		large.Jobs = append(large.Jobs, cfg.Jobs[0])
	}
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Apply(&large); err == nil || !strings.Contains(err.Error(), "5001 pairs of a workload and a target, more than 5000: run several processes") {
		t.Errorf("got %v", err)
	}
	wantUse := func(want float64) {
		t.Helper()
		all := s.resources.bounds()
		at := slices.IndexFunc(all, func(b bound.Bound) bool { return b.Name == "jobs" })
		if used, limit := all[at].Level(); used != want || limit != fleet.MaxJobs {
			t.Errorf("%v of %v jobs, want %v", used, limit, want)
		}
	}
	wantUse(fleet.MaxJobs + 1)
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	wantUse(1)
}
