// Package sweep measures a deployment at several levels of load, one after the
// other, and keeps what each level measured as a runfile.Run. The conversations
// are held by the prober that also watches production, and judged by the same
// objectives: there is no second clock and no second definition here.
//
// Data flows one way:
//
//	Plan → cells (grid, search) → level → load.Loop → conversations → probe
//	                                │                                   │
//	         runfile.Result ← team ←┴─ watcher ←  report  ← collector ←─┘
//
// Run owns every goroutine and all files; a level is one goroutine's, its collector
// takes events from all conversations. Several processes may carry a load together
// (package shard). All that a level knows of that is its team: shard 0 adds the
// reports of the others to its own before the watcher looks, so that the sum is
// judged; the others send theirs, and take its word for how a level ends. What is
// planned is of the whole load, load.Part says which of it a process carries, and
// what is measured stays with who measured it.
package sweep

import (
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

// Plan says what to measure. It is a plain value; internal/config makes one
// from a plan file, of which some parts are read as they are: their tags are
// those of package yamlform.
type Plan struct {
	Title string
	// Source is the plan file as it was read.
	Source runfile.Plan
	// Seed decides what is said and when conversations start, equally for
	// every variant.
	Seed uint64
	// Variants to measure, at least one; the first is the baseline.
	Variants []Variant
	Workload workload.Spec
	// User writes the follow-up messages; nil for script or generated ones.
	User *target.Target
	SLOs []slo.Objective

	// Kind says what Levels are: conversations in flight or conversation
	// starts per second. Levels rise.
	Kind   runfile.LevelKind
	Levels []float64
	// StartRate caps the conversation starts per second of a closed loop; 0 is
	// no cap.
	StartRate float64
	// OwnRate, if above 0, lets conversations of an open loop start at their
	// workload's own times (workload.Conversation.At), of which so many come in a
	// second, made quicker or slower to have the level's rate.
	OwnRate float64
	// Ramp is how the rate of a level comes about.
	Ramp Ramp
	// Arrival has process and burstiness of an open loop; its rate is the
	// level's. MaxConcurrency caps its conversations in flight: a start over
	// the cap is skipped and counted. 0 is no cap.
	Arrival        workload.Arrival
	MaxConcurrency int

	WarmUp      WarmUp
	Measure     Measure
	Repetitions int
	Order       Order
	// Pause is the time without load between two levels.
	Pause time.Duration
	Cache Cache
	// ReadyTimeout bounds the wait for a variant that was switched to.
	ReadyTimeout time.Duration
	// Confidence of verdicts, in (0, 1): a level is given up early only when
	// the chance of doing so wrongly is below 1 − Confidence.
	Confidence float64
	// EarlyStop gives up doomed levels in a grid, too; a search always does.
	EarlyStop bool
	// Deployment completes what the deployment says of itself.
	Deployment []runfile.Parameter
}

// Variant is one deployment, or one setting of it.
type Variant struct {
	Name   string
	Target target.Target
	// Preset names a simulated deployment that stands in the target's place;
	// "" for none.
	Preset string
	// Metrics are the URLs of the deployment's own metrics; empty for none.
	Metrics []string
	// Switch brings the variant about; the zero value does nothing.
	Switch Switch
	// GPUs of the deployment, and the price of one in an hour; 0 where unknown.
	GPUs     int
	GPUPrice float64
	// Deployment completes what this variant says of itself.
	Deployment []runfile.Parameter
}

// Switch is a command that makes the deployment into a variant.
type Switch struct {
	// Command and its arguments; empty for none.
	Command []string `yaml:"command" min:"1" examples:"[./deploy, eagle3]"`
	// Timeout bounds the command, not the wait for readiness after it.
	Timeout time.Duration `yaml:"timeout" default:"10m" min:"1s" max:"1d"`
}

// WarmUp precedes the measurement of a level and is never part of it: either
// the level's own load for a Duration, or so many Conversations at a Rate per
// second and a Cooldown after the last of them.
type WarmUp struct {
	Duration      time.Duration `yaml:"duration" group:"kind" examples:"60s" max:"1d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"1000000" examples:"10"`
	Rate          float64       `yaml:"rate" default:"0.5" above:"0" max:"10000"`
	Cooldown      time.Duration `yaml:"cooldown" default:"0s" max:"1d"`
}

// Measure is the measurement of a level in Snapshots equal parts: parts of a
// Duration, or of a number of Conversations.
type Measure struct {
	Snapshots int `yaml:"snapshots" examples:"3" min:"1" max:"1000"`
	// Snapshot is the length of each; 0 with Conversations.
	Snapshot      time.Duration `yaml:"snapshot" group:"kind" examples:"100s" min:"1s" max:"7d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"10000000" examples:"300"`
}

// Duration of the whole measurement; 0 if that is not known before.
func (m Measure) Duration() time.Duration { return time.Duration(m.Snapshots) * m.Snapshot }

const (
	// blocksPerSnapshot is into how many blocks of time a snapshot is cut,
	// countedBlock their length where that of the snapshot is not known.
	blocksPerSnapshot           = 10
	countedBlock                = 10 * time.Second
	shortestBlock, longestBlock = time.Second, 30 * time.Second
)

func (p Plan) block() time.Duration {
	if p.Measure.Snapshot == 0 {
		return countedBlock
	}
	return min(max(p.Measure.Snapshot/blocksPerSnapshot, shortestBlock), longestBlock)
}

// Order is how variants take turns.
type Order string

const (
	// Interleaved measures each level of all variants before the next level,
	// forwards and backwards in turn (A B, B A, …), so that drift cancels.
	Interleaved Order = "ABBA"
	// Blocks measures all levels of a variant before the next variant, in
	// reverse order at each repetition: few switches.
	Blocks Order = "blocks"
)

// CachePolicy says what the prefix cache may know when a level begins.
type CachePolicy string

const (
	// Keep leaves the cache as earlier levels left it.
	Keep CachePolicy = "keep"
	// Bust makes every text of a level new to the cache, also in a second run
	// of the same plan. Within the level texts are shared as always.
	Bust CachePolicy = "bust"
	// Prime holds some conversations before the warm-up.
	Prime CachePolicy = "prime"
)

// Cache is the policy of a sweep.
type Cache struct {
	Policy CachePolicy `yaml:"policy" default:"keep" enum:"keep,bust,prime"`
	// Conversations held for Prime.
	Conversations int `yaml:"conversations" default:"10" min:"1" max:"1000000"`
}
