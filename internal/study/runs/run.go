// Package runs defines the file of a finished sweep (its plan, its target, and the measurements of each level with
// distributions that can be merged), and the statistics of such runs. The sweep and the report use the same code.
//
// Durations are seconds. Unknown values are null (a nil pointer) or absent, never 0.
//
// Quantiles, shares and ratios have 95 % confidence intervals, which hold if turns that are close in time are
// correlated. There is one method:
//
//   - The blocks of a measurement are joined to batches. The spread between batches, or between
//     repetitions if it is larger, gives the variance of a share. Its ratio to the variance of
//     independent turns is the design effect, and the number of turns divided by that is the
//     effective number (Kish, "Survey Sampling", 1965).
//   - The interval of a share is that of Clopper and Pearson for the effective number.
//   - The interval of a quantile is the interval of the share of values at or below it; its ends
//     are read off the distribution (Woodruff, "Confidence intervals for medians and other position
//     measures", JASA 1952).
//   - The interval of a rate or a mean is Student's, with the same variance.
//
// A drift inside a measurement is no noise. It widens intervals.
package runs

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/slo"
)

// Format is the version of the files that this program writes and reads.
const Format = 2

// Run is one sweep with every measured (variant, level, repetition).
type Run struct {
	Origin
	Workload Workload        `json:"workload"`
	SLOs     []slo.Objective `json:"slos"`
	// Confidence of verdicts, in (0, 1).
	Confidence float64 `json:"confidence,omitempty"`
	// Deployment describes the target, in printed order.
	Deployment []Parameter `json:"deployment"`
	Method

	// Variants are in printed order; the first is the baseline. There is at least one.
	Variants []string `json:"variants"`
	// Unnamed is set if the only variant is named after its host. Reports name it after its model.
	Unnamed bool     `json:"unnamed,omitempty"`
	Results []Result `json:"results"` // in the order of measurement
	Slots
	// Interrupted says why the sweep stopped early; "" if it finished.
	Interrupted string `json:"interrupted,omitempty"`
}

// Origin is the program that wrote a run, and the plan.
type Origin struct {
	Format    int       `json:"format"`
	Generated time.Time `json:"generated"`
	Tool      Tool      `json:"tool"`
	Title     string    `json:"title"` // "" if the plan has none
	Plan      Plan      `json:"plan"`
	// Seed is the plan's. Each Result has its own seed, derived from it.
	Seed uint64 `json:"seed"`
}

// Method is how each level was measured.
type Method struct {
	LevelKind LevelKind `json:"level_kind"`
	// TargetRPS caps the conversation starts per second of a closed loop; null without a cap and in an open loop.
	TargetRPS *float64 `json:"target_rps"`
	// WarmUpSeconds and MeasurementSeconds are planned, per level. MeasurementSeconds is 0 if
	// the measurement ends by a number of conversations.
	WarmUpSeconds float64 `json:"warm_up_seconds"`
	// WarmUp describes a warm-up that was not a time under the level's own load ("10
	// conversations at 0.5/s, then 15s of rest"); otherwise "".
	WarmUp             string  `json:"warm_up,omitempty"`
	MeasurementSeconds float64 `json:"measurement_seconds"`
	PauseSeconds       float64 `json:"pause_seconds,omitempty"` // between two levels
	// Conversations per level, if the measurement ends by their number.
	Conversations int    `json:"conversations,omitempty"`
	Snapshots     int    `json:"snapshots"`
	Repetitions   int    `json:"repetitions"`
	CachePolicy   string `json:"cache_policy"`    // keep, bust or prime; "" if conversations share no text to keep
	Order         string `json:"order,omitempty"` // how variants alternate ("ABBA", "blocks")
}

// Slots are the part of each level that a file has, the planned levels, and the begin of the first slot of all shards.
// They are absent if one process measured the levels alone.
type Slots struct {
	Levels  []float64   `json:"levels,omitempty"`
	Shard   fleet.Shard `json:"shard,omitzero"`
	StartAt time.Time   `json:"start_at,omitzero"`
}

// Tool is the program that measured.
type Tool struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go,omitempty"`
}

// Plan is the plan file of the sweep.
type Plan struct {
	File string `json:"file,omitempty"`
	Text string `json:"text"` // the file as read, without secrets
	// SHA256 of the text, in hex.
	SHA256 string `json:"sha256"`
}

// Workload describes the requests.
type Workload struct {
	Name string `json:"name"`
	// Summary is one line for people ("Multi-turn chat (3-5 turns per conversation)").
	Summary string `json:"summary"`
	// Parameters decide whether runs can be compared: they must be equal. Seeds do not belong here.
	Parameters []Parameter `json:"parameters"`
}

// Parameter is a line of a table of names and values.
type Parameter struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source,omitempty"` // where the value was read ("/v1/models", "plan")
	// Variant that it applies to; "" for all.
	Variant string `json:"variant,omitempty"`
}

// State is how the measurement of a level ended.
type State string

const (
	// Complete: every snapshot was measured in full.
	Complete State = "complete"
	// EndedEarly: the sweep ended the level, for example because its verdict was clear or the
	// target was lost. Snapshots hold the measurement until then.
	EndedEarly State = "ended_early"
	// Interrupted: the sweep was stopped.
	Interrupted State = "interrupted"
)

// Result is one measurement of one level of one variant.
type Result struct {
	Variant    string     `json:"variant"`
	Level      float64    `json:"level"` // the number of conversations in flight or of starts per second
	Repetition int        `json:"repetition"`
	Seed       uint64     `json:"seed"`
	Started    time.Time  `json:"started"`
	Ended      time.Time  `json:"ended"`
	State      State      `json:"state"`
	Why        string     `json:"why,omitempty"` // the reason for a state other than Complete
	Snapshots  []Snapshot `json:"snapshots"`
	// Tail holds the turns in flight when the measurement ended. They ended under a falling
	// load, so they count in no rate and no quantile. The level caused the failures among them.
	Tail    *Block        `json:"tail,omitempty"`
	Verdict *LevelVerdict `json:"verdict,omitempty"` // null in files that no sweep wrote
	// MissingShards did not measure the level, of the shards of a merged run.
	MissingShards []int `json:"missing_shards,omitempty"`
}

// Cell identifies a result.
type Cell struct {
	Variant    string
	Level      float64
	Repetition int
}

// LevelKind is the unit of a sweep's levels.
type LevelKind string

const (
	// Concurrency levels are conversations in flight, in a closed loop.
	Concurrency LevelKind = "concurrency"
	// Rate levels are conversation starts per second, in an open loop.
	Rate LevelKind = "rate"
)

// At returns levels with their unit: "concurrency 40", "concurrency 40, 60 and 80", "rate 0.5/s and 1/s".
func (k LevelKind) At(levels ...float64) string {
	unit := ""
	if k == Rate {
		unit = "/s"
	}
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = fmt.Sprintf("%g%s", l, unit)
	}
	return string(k) + " " + JoinWords(words)
}

// JoinWords returns "a", "a and b", "a, b and c".
func JoinWords(words []string) string {
	last := max(len(words)-1, 0)
	if last == 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// FormatLevels returns "80, 90" for the separator ", ".
func FormatLevels(levels []float64, between string) string {
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = fmt.Sprintf("%g", l)
	}
	return strings.Join(words, between)
}
