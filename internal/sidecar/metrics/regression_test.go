package metrics

import (
	"testing"
	"time"

	"synthetic/internal/sidecar/regression"
)

// saved is a state file of a regression in progress, as of start.
func saved(targets ...string) (f regression.File) {
	for _, target := range targets {
		f.Jobs = append(f.Jobs, regression.JobState{
			Target: target, Workload: "chat", Saved: start,
			Series: []regression.SeriesState{{
				Cusum: 1.5, Step: regression.StepState{Sum: 2, Up: true},
				Slots: []regression.SlotState{{Entries: []regression.Entry{{Mean: -1, Variance: 0.1, N: 100}}}},
			}},
		})
	}
	return f
}

// TestRestoreBaselines: the recorder's clock says how old the sums are, for each
// job when it takes its part.
func TestRestoreBaselines(t *testing.T) {
	for name, tt := range map[string]struct {
		after, later time.Duration // the restart, the reload that names the second job
		want         [2]float64    // CUSUM of both
	}{
		"at once":                     {time.Minute, 0, [2]float64{1.5, 1.5}},
		"after two days":              {48 * time.Hour, 0, [2]float64{0, 0}},
		"a reload two days later":     {time.Minute, 48 * time.Hour, [2]float64{1.5, 0}},
		"with a clock that went back": {-48 * time.Hour, time.Hour, [2]float64{1.5, 1.5}},
		"two days, then a reload":     {48 * time.Hour, time.Minute, [2]float64{0, 0}},
		"both just within the hour":   {time.Minute, 59 * time.Minute, [2]float64{1.5, 1.5}},
	} {
		c := &clock{now: start.Add(tt.after)}
		r := newTestRecorder(c, "north")
		r.RestoreBaselines(saved("north", "south"))
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
			if len(j.Series) != 1 || len(j.Series[0].Slots) != 1 {
				t.Errorf("%s: the baseline of %s is lost: %+v", name, j.Target, j.Series)
				continue
			}
			if s := j.Series[0]; s.Cusum != tt.want[i] || s.Step.Up != (tt.want[i] > 0) {
				t.Errorf("%s: the sums of %s are %v and %+v, want a CUSUM of %v", name, j.Target, s.Cusum, s.Step, tt.want[i])
			}
		}
	}
}
