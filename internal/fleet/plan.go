package fleet

import (
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

// Plan is the plan of a study. Package yamlform reads the types with yaml tags directly.
type Plan struct {
	About
	// Seed decides the conversations and their starts, equally for every variant.
	Seed     uint64    `yaml:"seed" default:"1"`
	Variants []Variant // at least one entry; the first is the baseline
	Workload workload.Spec
	SLOs     []slo.Objective

	// Levels are conversations in flight, or conversation starts per second in an open loop. They rise.
	Levels []float64
	Arrivals

	WarmUp      WarmUp  `yaml:"warm_up" examples:"{duration: 60s}"`
	Measure     Measure `yaml:"measure" examples:"{snapshots: 3, snapshot: 100s}"`
	Repetitions int     `yaml:"repetitions" default:"1" min:"1" max:"1000"`
	Order       Order
	Pause       time.Duration `yaml:"pause" default:"0s" max:"1d"` // the idle time between two levels
	Cache       Cache         `yaml:"cache" examples:"{policy: bust}"`
	// Confidence of verdicts, in (0, 1). A level is wrongly given up early with a probability
	// below 1 − Confidence.
	Confidence float64
}

// About is what a plan says of itself and of the deployment.
type About struct {
	Title  string `yaml:"title" examples:"KV cache routing vs round-robin"`
	Source PlanFile
	// Deployment completes the deployment's own description.
	Deployment []serverside.Setting
	// Notes are what the user should know of the files that were read.
	Notes []string
}

// Arrivals say how the conversations of a level start.
type Arrivals struct {
	OpenLoop bool
	// StartRate caps the conversation starts per second of a closed loop; 0 is no cap.
	StartRate float64
	// Arrival has the process and burstiness of an open loop. MaxConcurrency caps its
	// conversations in flight: a start beyond the cap is skipped and counted. 0 is no cap.
	Arrival        workload.Arrival
	MaxConcurrency int
}

// PlanFile is the text of a plan without secrets.
type PlanFile struct{ File, Text, SHA256 string }

// Variant is a deployment, or a setting of one.
type Variant struct {
	Name    string
	Unnamed bool // Name is the host, because the plan gives none
	Target  target.Target
	Preset  string   // names a simulated deployment that replaces the target; "" for none
	Metrics []string // the URLs of the deployment's own metrics
	// Switch is the command that switches the deployment to the variant, with its arguments; empty
	// for none.
	Switch []string
	// Deployment completes the variant's own description.
	Deployment []serverside.Setting
}

// WarmUp precedes the measurement of a level and is not part of it: either the level's own load
// for Duration, or Conversations at Rate per second followed by Cooldown.
type WarmUp struct {
	Duration      time.Duration `yaml:"duration" group:"kind" examples:"60s" max:"1d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"1000000" examples:"10"`
	Rate          float64       `yaml:"rate" default:"0.5" above:"0" max:"10000"`
	Cooldown      time.Duration `yaml:"cooldown" default:"0s" max:"1d"`
}

// Length returns the time until the last conversation of a warm-up starts, and the rest after it.
func (w WarmUp) Length() time.Duration {
	d := w.Duration + w.Cooldown
	if w.Conversations > 0 {
		d += time.Duration(float64(w.Conversations) / w.Rate * float64(time.Second))
	}
	return d
}

// Measure is the measurement of a level in equal snapshots, by time or by a number of
// conversations.
type Measure struct {
	Snapshots int `yaml:"snapshots" examples:"3" min:"1" max:"1000"`
	// Snapshot is the length of one; 0 with Conversations.
	Snapshot      time.Duration `yaml:"snapshot" group:"kind" examples:"100s" min:"1s" max:"7d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"10000000" examples:"300"`
}

// Duration returns the length of the measurement; 0 if unknown in advance.
func (m Measure) Duration() time.Duration { return time.Duration(m.Snapshots) * m.Snapshot }

// Order is how variants alternate.
type Order string

const (
	// Interleaved measures each level of all variants before the next level, alternately
	// forwards and backwards (A B, B A, …), so that drift cancels.
	Interleaved Order = "ABBA"
	// Blocks measures all levels of a variant before the next variant, in reverse order at each
	// repetition. It needs few switches.
	Blocks Order = "blocks"
)

// CachePolicy is the state of the prefix cache when a level begins.
type CachePolicy string

const (
	// KeepCache leaves the cache unchanged.
	KeepCache CachePolicy = "keep"
	// BustCache makes all texts of a level new to the cache, also in another run of the plan. Texts
	// are shared within the level as usual.
	BustCache CachePolicy = "bust"
	// Prime runs some conversations before the warm-up.
	Prime CachePolicy = "prime"
)

type Cache struct {
	Policy CachePolicy `yaml:"policy" default:"keep" enum:"keep,bust,prime"`
	// Conversations to run for Prime.
	Conversations int `yaml:"conversations" default:"10" min:"1" max:"1000000"`
}
