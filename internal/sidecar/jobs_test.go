package sidecar

import (
	"testing"

	"synthetic/internal/config"
)

// TestJobsHaveTheChanges: each job has the change windows of its target.
func TestJobsHaveTheChanges(t *testing.T) {
	cfg, err := config.Parse("synthetic.yml", []byte(`
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b"}]
changes:
  - {targets: [a], start: 2026-12-01T10:00:00Z, end: 2026-12-01T11:00:00Z, relearn: true}
  - weekly: sunday 02:00 2h
`), "")
	if err != nil {
		t.Fatal(err)
	}
	jobs := cfg.Jobs
	if len(jobs) != 2 {
		t.Fatalf("%d jobs, want 2", len(jobs))
	}
	if a, b := jobs[0].Changes, jobs[1].Changes; len(a) != 2 || !a[0].Relearn || len(b) != 1 || !b[0].Weekly {
		t.Errorf("windows of a %+v, of b %+v", a, b)
	}
	for _, j := range jobs {
		if len(j.Objectives) != 3 {
			t.Errorf("%s has %d objectives, want the 3 defaults", j.Target.Name, len(j.Objectives))
		}
		if limits := j.Workload.Timeouts; limits.FirstToken == 0 || limits.Stall == 0 || limits.Total == 0 {
			t.Errorf("timeouts of %s: %+v", j.Target.Name, limits)
		}
	}
}
