package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// baselinesJSON holds the Baselines of the healthy deployments of all scenarios. A new prober learns
// them in days, but the demo lasts minutes. "make demo-baselines" learns them in virtual time.
//
//go:embed baselines.json
var baselinesJSON []byte

// workload is the only workload of demo.yml.
const workload = "chat"

// Baselines are what the demo knows about its targets at the start.
type Baselines []targetBaseline

// targetBaseline was learned from a target in healthy time.
type targetBaseline struct {
	// State holds the usual durations of the parts of a turn.
	State baseline.JobState `json:"state"`
	// Cached is the share of prompt tokens that are cached, by kind of turn.
	Cached [2]float64 `json:"cached"`
	// Minutes holds, by kind of turn and signal, the number of turns of each minute and the mean of
	// the logarithms of their seconds.
	Minutes [2][2][][2]float64 `json:"minutes"`
}

// LoadBaselines returns the baselines of targets.
func LoadBaselines(targets []Target) (Baselines, error) {
	var all, out Baselines
	if err := json.Unmarshal(baselinesJSON, &all); err != nil {
		return nil, fmt.Errorf("reading the demo's baselines: %w", err)
	}
	for _, t := range targets {
		i := slices.IndexFunc(all, func(b targetBaseline) bool { return b.State.Target == t.Baseline })
		if i < 0 {
			return nil, fmt.Errorf("there is no baseline %q for the demo's target %q; make demo-baselines", t.Baseline, t.Name)
		}
		b := all[i]
		b.State.Target, b.State.Workload = t.Name, workload
		out = append(out, b)
	}
	return out, nil
}

const (
	// historyLength is enough: a baseline takes a day, and limits of the target's own two more.
	historyLength = 4 * 24 * time.Hour
	// cachedInterval gives enough turns per half hour to learn the cached share.
	cachedInterval = 3 * time.Minute
)

// HistoryUntil returns the state and the history of a prober that has probed the targets for days
// until now. It repeats the learned minutes.
func (b Baselines) HistoryUntil(now time.Time) (state baseline.File, history map[probe.Key][]byte) {
	history = map[probe.Key][]byte{}
	for _, target := range b {
		state.Jobs = append(state.Jobs, target.State)
		history[probe.Key{Target: target.State.Target, Workload: target.State.Workload}] = target.historyUntil(now)
	}
	return state, history
}

func (b targetBaseline) historyUntil(now time.Time) []byte {
	begin := now.Add(-historyLength).Truncate(time.Minute)
	at := begin
	tracker := baseline.NewTracker(baseline.TrackerOptions{Now: func() time.Time { return at }})
	job := sink.Job{}
	job.Target.Name, job.Workload.Name = b.State.Target, b.State.Workload
	tracker.Add(job)
	for k, kind := range probe.TurnKinds() {
		for at = begin; at.Before(now); at = at.Add(cachedInterval) {
			const prompt = 1e6
			tracker.Observe(probe.Result{
				Target: job.Target.Name, Workload: job.Workload.Name, Kind: kind, Outcome: probe.Success,
				PromptTokens: probe.Some(int(prompt)), CachedTokens: probe.Some(int(prompt * b.Cached[k])),
			})
		}
		for signal, minutes := range b.Minutes[k] {
			tracker.Backfill(job.Key(), k, signal, repeatMinutes(minutes, begin, now))
		}
	}
	return maps.Collect(tracker.Histories())[job.Key()]
}

// repeatMinutes repeats the learned minutes from begin to end.
func repeatMinutes(learned [][2]float64, begin, end time.Time) []baseline.Minute {
	var out []baseline.Minute
	for at := begin; len(learned) > 0 && at.Before(end.Truncate(time.Minute)); at = at.Add(time.Minute) {
		m := learned[len(out)%len(learned)]
		out = append(out, baseline.Minute{At: at, Turns: m[0], Mean: m[1]})
	}
	return out
}
