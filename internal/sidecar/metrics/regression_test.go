package metrics

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"synthetic/internal/sidecar/baseline"
)

// saved is a state file of a regression in progress, as of start.
func saved(t *testing.T, targets ...string) (f baseline.File) {
	t.Helper()
	for _, target := range targets {
		var j baseline.JobState
		text := fmt.Sprintf(`{"target": %q, "workload": "chat", "series": [{"page": {"up": true, "seen": %d, "limit": 0.7}, "told": {"level": 0.3}}]}`, target, start.Unix()/60)
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		j.Saved = start
		f.Jobs = append(f.Jobs, j)
	}
	return f
}

// TestRestoreBaselines: the recorder's clock says how old a page is, for each job
// when it takes its part.
func TestRestoreBaselines(t *testing.T) {
	for name, tt := range map[string]struct {
		after, later time.Duration // the restart, the reload that names the second job
		want         [2]bool       // both page
	}{
		"at once":                     {time.Minute, 0, [2]bool{true, true}},
		"after two days":              {48 * time.Hour, 0, [2]bool{false, false}},
		"a reload two days later":     {time.Minute, 48 * time.Hour, [2]bool{true, false}},
		"with a clock that went back": {-48 * time.Hour, time.Hour, [2]bool{true, true}},
		"two days, then a reload":     {48 * time.Hour, time.Minute, [2]bool{false, false}},
		"both just within the hour":   {time.Minute, 59 * time.Minute, [2]bool{true, true}},
	} {
		c := &clock{now: start.Add(tt.after)}
		r := newTestRecorder(c, "north")
		r.RestoreBaselines(saved(t, "north", "south"))
		c.now = c.now.Add(tt.later)
		apply(r, jobs("north", "south"))
		jobs := r.Baselines().Jobs
		if len(jobs) != 2 {
			t.Fatalf("%s: %d jobs, want 2", name, len(jobs))
		}
		for i, j := range jobs {
			if !j.Saved.Equal(c.now) {
				t.Errorf("%s: %s is saved at %v, want %v", name, j.Target, j.Saved, c.now)
			}
			if got := j.Series[0].Page.Up; got != tt.want[i] || (j.Series[0].Told.Level > 0) != tt.want[i] {
				t.Errorf("%s: %s pages: %v, and knows %v", name, j.Target, got, j.Series[0].Told)
			}
		}
	}
}
