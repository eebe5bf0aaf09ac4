// Package sweep measures a deployment at several levels of load and returns the measurements as
// a runs.Run. It uses the prober and the objectives of production monitoring.
//
// A plan gives cells (a grid or a search). Each cell is a level, whose load.Loop starts
// conversations. The prober sends their events to the collector. A level ends early if its target is lost.
//
// run owns every goroutine and all files. A level belongs to one goroutine; its collector takes
// events from all conversations.
package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// Plan is the plan of a sweep. internal/config makes it from a plan file. Package yamlform
// reads the types with yaml tags directly.
type Plan struct {
	Title  string
	Source runs.Plan // the plan file without secrets
	// Seed decides the conversations and their starts, equally for every variant.
	Seed     uint64
	Variants []Variant // at least one entry; the first is the baseline
	Workload workload.Spec
	SLOs     []slo.Objective

	// Kind is the unit of Levels: conversations in flight, or conversation starts per second.
	// Levels rise.
	Kind   runs.LevelKind
	Levels []float64
	// StartRate caps the conversation starts per second of a closed loop; 0 is no cap.
	StartRate float64
	// Arrival has the process and burstiness of an open loop. MaxConcurrency caps its
	// conversations in flight: a start beyond the cap is skipped and counted. 0 is no cap.
	Arrival        workload.Arrival
	MaxConcurrency int

	WarmUp      WarmUp
	Measure     Measure
	Repetitions int
	Order       Order
	Pause       time.Duration // the idle time between two levels
	Cache       Cache
	// Confidence of verdicts, in (0, 1). A level is wrongly given up early with a probability
	// below 1 − Confidence.
	Confidence float64
	// Deployment completes the deployment's own description.
	Deployment []runs.Parameter
	// Notes are what the user should know of the files that were read.
	Notes []string
}

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
	Deployment []runs.Parameter
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
		d += inSeconds(float64(w.Conversations) / w.Rate)
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

const (
	// blocksPerSnapshot is the number of blocks in a snapshot. Their length is countedBlock if
	// the length of snapshots is unknown.
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
	// keepCache leaves the cache unchanged.
	keepCache CachePolicy = "keep"
	// bustCache makes all texts of a level new to the cache, also in another run of the plan. Texts
	// are shared within the level as usual.
	bustCache CachePolicy = "bust"
	// Prime runs some conversations before the warm-up.
	Prime CachePolicy = "prime"
)

type Cache struct {
	Policy CachePolicy `yaml:"policy" default:"keep" enum:"keep,bust,prime"`
	// Conversations to run for Prime.
	Conversations int `yaml:"conversations" default:"10" min:"1" max:"1000000"`
}

// cell is one measurement of one level of one variant.
type cell struct {
	// Variant and Level are indices in the plan's lists.
	Variant    int `json:"variant"`
	Level      int `json:"level"`
	Repetition int `json:"repetition"` // counts from 1
}

// Cells returns the whole grid in the order of measurement.
func (p Plan) Cells() []cell {
	var cells []cell
	for r := range max(p.Repetitions, 1) {
		if p.Order == Blocks {
			for _, v := range p.turn(r) {
				for l := range p.Levels {
					cells = append(cells, cell{v, l, r + 1})
				}
			}
			continue
		}
		for l := range p.Levels {
			for _, v := range p.turn(l + r) {
				cells = append(cells, cell{v, l, r + 1})
			}
		}
	}
	return cells
}

// turn returns the variants in order, reversed if n is odd.
func (p Plan) turn(n int) []int {
	order := make([]int, len(p.Variants))
	for i := range order {
		order[i] = i
	}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// seed returns the seed of a cell. Variants share it, so they get the same conversations at the
// same times.
func (p Plan) seed(c cell) uint64 {
	return workload.Hash("cell", strconv.FormatUint(p.Seed, 16), formatLevel(p.Levels[c.Level]), strconv.Itoa(c.Repetition))
}

// name returns the name of a cell for people and files: "kv-c50-r1".
func (p Plan) name(c cell) string {
	letter := "c"
	if p.Kind == runs.Rate {
		letter = "rate"
	}
	return fmt.Sprintf("%s-%s%s-r%d", p.Variants[c.Variant].Name, letter, formatLevel(p.Levels[c.Level]), c.Repetition)
}

func formatLevel(l float64) string { return strconv.FormatFloat(l, 'f', -1, 64) }
