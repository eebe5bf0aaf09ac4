package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/watch"
)

// baselineJSON holds the Baseline of the healthy deployment. A new prober learns it in days, but the demo
// lasts minutes. "make demo-baseline" learns it in virtual time.
//
//go:embed baseline.json
var baselineJSON []byte

// Baseline was learned from the deployment in healthy time.
type Baseline struct {
	// State holds the usual durations of the parts of a turn, and the usual share of cached tokens.
	State watch.JobState `json:"state"`
	// Minutes holds, by kind of turn and signal, the number of turns of each minute and the mean of
	// the logarithms of their seconds.
	Minutes [2][2][][2]float64 `json:"minutes"`
}

// LoadBaseline returns the baseline of the deployment.
func LoadBaseline() (b Baseline, err error) {
	if err = json.Unmarshal(baselineJSON, &b); err != nil {
		err = fmt.Errorf("reading the demo's baseline: %w", err)
	}
	return b, err
}

// historyLength is enough for levels to page, and for limits of the target's own.
const historyLength = 8 * 24 * time.Hour

// HistoryUntil returns the state and the history of a prober that has probed the deployment for days
// until now. It repeats the learned minutes.
func (b Baseline) HistoryUntil(now time.Time) (watch.File, map[probe.Key][]byte) {
	begin := now.Add(-historyLength).Truncate(time.Minute)
	tracker := watch.NewTracker(watch.TrackerOptions{Now: func() time.Time { return now }})
	job := fleet.Job{}
	job.Target.Name, job.Workload.Name = b.State.Target, b.State.Workload
	tracker.Add(job)
	for signal := range fleet.Signals() {
		tracker.Backfill(job.Key(), signal, repeatMinutes([2][][2]float64{b.Minutes[0][signal], b.Minutes[1][signal]}, begin, now))
	}
	return watch.File{Jobs: []watch.JobState{b.State}}, maps.Collect(tracker.Histories())
}

// repeatMinutes repeats the learned minutes from begin to end.
func repeatMinutes(learned [2][][2]float64, begin, end time.Time) []watch.Minute {
	var out []watch.Minute
	for at := begin; at.Before(end.Truncate(time.Minute)); at = at.Add(time.Minute) {
		m := watch.Minute{At: at}
		for k, minutes := range learned {
			if len(minutes) > 0 {
				v := minutes[len(out)%len(minutes)]
				m.Turns[k], m.Mean[k] = v[0], v[1]
			}
		}
		out = append(out, m)
	}
	return out
}
