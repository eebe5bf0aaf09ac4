// Package runfile is a finished sweep as data: what was planned, against what,
// and what each level measured, with distributions that can still be merged.
// It knows how to write such a file safely and how to refuse a broken one.
//
// All durations are seconds and all token and turn counts are whole numbers.
// What is unknown is null (a nil pointer) or absent, never 0.
package runfile

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Format is the version of the file that this program writes. Version 1 had
// sketches where 2 has the values of turns.
const Format = 2

// LevelKind says what the levels of a sweep are.
type LevelKind string

const (
	// Concurrency levels are conversations in flight, in a closed loop.
	Concurrency LevelKind = "concurrency"
	// Rate levels are conversation starts per second, in an open loop.
	Rate LevelKind = "rate"
)

// Run is one sweep: every (variant, level, repetition) that was measured.
type Run struct {
	Format    int       `json:"format"`
	Generated time.Time `json:"generated"`
	Tool      Tool      `json:"tool"`
	Title     string    `json:"title"`
	Plan      Plan      `json:"plan"`
	// Seed is the plan's; each Result has its own, derived from it.
	Seed     uint64      `json:"seed"`
	Workload Workload    `json:"workload"`
	SLOs     []Objective `json:"slos"`
	// Confidence of verdicts, in (0, 1); 0 in files of earlier versions.
	Confidence float64 `json:"confidence,omitempty"`
	// Deployment says what was measured, in the order to be printed.
	Deployment []Parameter `json:"deployment"`

	LevelKind LevelKind `json:"level_kind"`
	// TargetRPS is the cap on conversation starts per second of a closed loop;
	// null without one and in an open loop.
	TargetRPS *float64 `json:"target_rps"`
	// WarmUpSeconds and MeasurementSeconds are planned, per level; a
	// measurement of 0 ends by a number of conversations instead.
	WarmUpSeconds float64 `json:"warm_up_seconds"`
	// WarmUp says how a warm-up went that was no time of the level's own load
	// ("10 conversations at 0.5/s, then 15s of rest"); "" otherwise.
	WarmUp             string  `json:"warm_up,omitempty"`
	MeasurementSeconds float64 `json:"measurement_seconds"`
	// Conversations per level, when the measurement ends by their number.
	Conversations int `json:"conversations,omitempty"`
	// Snapshots and Repetitions are planned, per level.
	Snapshots   int `json:"snapshots"`
	Repetitions int `json:"repetitions"`
	// CachePolicy is keep, bust or prime, in the plan's words.
	CachePolicy string `json:"cache_policy"`
	// Order says how variants took turns ("ABBA", "blocks").
	Order string `json:"order,omitempty"`

	// Variants in the order to be printed; the first is the baseline. A run
	// without variants has one, named as the plan likes.
	Variants []string `json:"variants"`
	// Hardware of the variants whose GPUs the plan names.
	Hardware []Hardware `json:"hardware,omitempty"`
	// Results in the order in which they were measured.
	Results []Result `json:"results"`
	// Interrupted says why the sweep stopped before its end; "" when it did
	// not.
	Interrupted string `json:"interrupted,omitempty"`
	// Capacities of the variants, in their order; absent without objectives.
	Capacities []Capacity `json:"capacities,omitempty"`
	// Shard says which part of the load this process carried; nil for all of it.
	Shard *Shard `json:"shard,omitempty"`
	// Shards are those that were joined to this run, whose times are by the clock of
	// the first; nil for the run of one process.
	Shards []Shard `json:"shards,omitempty"`
}

// Shared names a result that both runs have, "" when there is none.
func (r *Run) SharedResult(o *Run) string {
	for _, a := range r.Results {
		if slices.ContainsFunc(o.Results, func(b Result) bool { return reflect.DeepEqual(a, b) }) {
			return fmt.Sprintf("%s, level %g, of %s", a.Variant, a.Level, a.Started.Format(time.DateTime))
		}
	}
	return ""
}

// Tool is the program that measured.
type Tool struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go,omitempty"`
}

// Plan is the file that asked for the sweep.
type Plan struct {
	File string `json:"file,omitempty"`
	// Text is the file as it was read, free of secrets.
	Text string `json:"text"`
	// SHA256 of the text, in hex.
	SHA256 string `json:"sha256"`
}

// Workload is what was said to the deployment.
type Workload struct {
	Name string `json:"name"`
	// Summary is one line for people ("Multi-turn chat (3-5 turns per
	// conversation)").
	Summary string `json:"summary"`
	// Parameters are all that decides whether two runs said the same: runs
	// whose parameters differ are not compared. Seeds do not belong here.
	Parameters []Parameter `json:"parameters"`
}

// Objective is an SLO as the run was judged by.
type Objective struct {
	Name string  `json:"name"`
	SLI  slo.SLI `json:"sli"`
	// ThresholdSeconds is the highest good value; 0 for availability.
	ThresholdSeconds float64 `json:"threshold_seconds"`
	// Objective is the wanted share of good turns, in (0, 1): 0.99 makes the
	// threshold one for the p99.
	Objective float64 `json:"objective"`
	// Turns restricts it to "first" or "followup"; empty means both.
	Turns []probe.TurnKind `json:"turns,omitempty"`
}

// Hardware is how many GPUs a variant has and what one costs in an hour, 0 where
// the plan does not say.
type Hardware struct {
	Variant         string  `json:"variant"`
	GPUs            int     `json:"gpus"`
	PricePerGPUHour float64 `json:"price_per_gpu_hour,omitempty"`
}

// HardwareOf is the hardware of a variant; without GPUs where nothing is known.
func (r *Run) HardwareOf(variant string) Hardware {
	for _, h := range r.Hardware {
		if h.Variant == variant {
			return h
		}
	}
	return Hardware{Variant: variant}
}

// Parameter is one line of the deployment table.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source says where the value was read ("/v1/models", "plan").
	Source string `json:"source,omitempty"`
	// Variant that it holds for; "" for all.
	Variant string `json:"variant,omitempty"`
}

// State is how the measurement of a level ended.
type State string

const (
	// Complete: every snapshot was measured in full.
	Complete State = "complete"
	// EndedEarly: the sweep gave the level up (doomed, target lost); its
	// snapshots hold what was measured until then.
	EndedEarly State = "ended_early"
	// Interrupted: somebody stopped the sweep.
	Interrupted State = "interrupted"
)

// Result is one level of one variant, measured once.
type Result struct {
	Variant string `json:"variant"`
	// Level is conversations in flight or starts per second.
	Level float64 `json:"level"`
	// Repetition counts from 1.
	Repetition int       `json:"repetition"`
	Seed       uint64    `json:"seed"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended"`
	State      State     `json:"state"`
	// Why says why the state is not Complete.
	Why string `json:"why,omitempty"`
	// Unreached says what kept the whole load from being carried that no figure here
	// shows: a shard that did not measure its part. "" when nothing did.
	Unreached string     `json:"unreached,omitempty"`
	Snapshots []Snapshot `json:"snapshots"`
	// Throttled is the share of the measured time in which the CPU limit of the
	// prober's cgroup kept it from running; null where the system does not say.
	Throttled *float64 `json:"throttled,omitempty"`
	// Tail has the turns that were in flight when the measurement ended. They
	// were followed to their own end, under falling load, and belong to no
	// rate and no quantile; but what failed among them was the level's doing.
	Tail *Block `json:"tail,omitempty"`
	// Verdict is null for files that were not written by a sweep.
	Verdict *LevelVerdict `json:"verdict,omitempty"`
	// Lost are the shards that did not carry their parts, so that the level was not
	// reached: the same in the files of all others.
	Lost []LostShard `json:"lost_shards,omitempty"`
}
