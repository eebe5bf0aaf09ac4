package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// baselines is what each of the demo's deployments is like while all is well, as
// Learned. A new prober needs days to learn that; the demo has minutes. "make
// demo-baselines" learns it in virtual time.
//
//go:embed baselines.json
var baselines []byte

// workload is the one workload of demo.yml.
const workload = "chat"

// Usual is what is known of targets before the demo begins.
type Usual []Learned

// Learned is some healthy time of one target.
type Learned struct {
	// State has where the time of a turn usually goes.
	State baseline.JobState `json:"state"`
	// Cached is the share of prompt tokens that come from the prefix cache, by kind
	// of turn.
	Cached [2]float64 `json:"cached"`
	// Minutes are how many turns each had and their mean logarithm of seconds, by
	// kind of turn and signal.
	Minutes [2][2][][2]float64 `json:"minutes"`
}

// Baselines are what is usual for targets, by their own names. In the file they go
// by what is usual for them.
func Baselines(targets []Target) (Usual, error) {
	var known, out Usual
	if err := json.Unmarshal(baselines, &known); err != nil {
		return nil, fmt.Errorf("reading the demo's baselines: %w", err)
	}
	for _, t := range targets {
		i := slices.IndexFunc(known, func(l Learned) bool { return l.State.Target == t.Usual })
		if i < 0 {
			return nil, fmt.Errorf("there is no baseline %q for the demo's target %q; make demo-baselines", t.Usual, t.Name)
		}
		one := known[i]
		one.State.Target, one.State.Workload = t.Name, workload
		out = append(out, one)
	}
	return out, nil
}

const (
	// lived is how long the targets are known for: a baseline takes a day, and limits
	// that are their own two more.
	lived = 4 * 24 * time.Hour
	// cachedEvery makes enough turns of a half hour to be learned from.
	cachedEvery = 3 * time.Minute
)

// Until is what a prober would know at a time that had probed these targets for days:
// what was learned, again and again.
func (u Usual) Until(now time.Time) (present baseline.File, past map[probe.Key][]byte) {
	past = map[probe.Key][]byte{}
	for _, l := range u {
		present.Jobs = append(present.Jobs, l.State)
		past[probe.Key{Target: l.State.Target, Workload: l.State.Workload}] = l.until(now)
	}
	return present, past
}

// until returns the history of a target.
func (l Learned) until(now time.Time) []byte {
	begin := now.Add(-lived).Truncate(time.Minute)
	at := begin
	tracker := baseline.NewTracker(baseline.TrackerOptions{Now: func() time.Time { return at }})
	job := sink.Job{}
	job.Target.Name, job.Workload.Name = l.State.Target, l.State.Workload
	tracker.Add(job)
	for k, kind := range probe.TurnKinds() {
		for at = begin; at.Before(now); at = at.Add(cachedEvery) {
			const prompt = 1e6
			tracker.Observe(probe.Result{
				Target: job.Target.Name, Workload: job.Workload.Name, Kind: kind, Outcome: probe.Success,
				PromptTokens: probe.Some(int(prompt)), CachedTokens: probe.Some(int(prompt * l.Cached[k])),
			})
		}
		for signal, minutes := range l.Minutes[k] {
			tracker.Backfill(job.Key(), k, signal, repeated(minutes, begin, now))
		}
	}
	return maps.Collect(tracker.Histories())[job.Key()]
}

// repeated lays minutes between two times.
func repeated(learned [][2]float64, begin, end time.Time) []baseline.Minute {
	var out []baseline.Minute
	for at := begin; len(learned) > 0 && at.Before(end.Truncate(time.Minute)); at = at.Add(time.Minute) {
		m := learned[len(out)%len(learned)]
		out = append(out, baseline.Minute{At: at, Turns: m[0], Mean: m[1], Baseline: math.NaN()})
	}
	return out
}
