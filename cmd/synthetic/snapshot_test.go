package main

import (
	"testing"

	"synthetic/internal/config"
)

// TestSnapshotHasTheChanges: each job has the windows of its own target.
func TestSnapshotHasTheChanges(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b"}]
changes:
  - {targets: [a], start: 2026-12-01T10:00:00Z, end: 2026-12-01T11:00:00Z, relearn: true}
  - weekly: {day: sunday, start: "02:00", length: 2h}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(cfg)
	if len(s.Jobs) != 2 || len(s.Targets) != 2 || len(s.SLOs) != 3 {
		t.Fatalf("%d jobs, %d targets, %d SLOs", len(s.Jobs), len(s.Targets), len(s.SLOs))
	}
	if a, b := s.Jobs[0].Changes, s.Jobs[1].Changes; len(a) != 2 || !a[0].Relearn || len(b) != 1 || !b[0].Weekly {
		t.Errorf("windows of a %+v, of b %+v", a, b)
	}
	for _, j := range s.Jobs {
		if j.Deadlines.FirstToken == 0 || j.Deadlines.Stall == 0 || j.Deadlines.Total == 0 {
			t.Errorf("deadlines of %s: %+v", j.Target, j.Deadlines)
		}
		if j.Benchmark.Run != "" {
			t.Errorf("%s has a benchmark that nobody named", j.Target)
		}
	}
}
