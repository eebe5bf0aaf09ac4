package sweep

import (
	"errors"
	"fmt"
	"time"

	"synthetic/internal/study/runfile"
)

// The shards of a sweep keep in step through a barrier over HTTP, which shard 0 serves. Shard 0
// chooses the levels, waits for the deployment, judges and stops. Several times a second each
// other shard posts its Status and receives the Step that all shards must be at:
//
//	step of Lead                          answer of Client
//	prepare  the level                    done, after it prepared its part and primed caches
//	load     when the load begins         a report every second
//	halt     when it ends early           done, with the last report
//	ruled    how it ended, the verdict    done, after it saved its result
//	over     why the sweep ends           done
//
// A Status is also a sign of life. A shard that is silent for SilenceLimit, leaves, restarts or
// is far behind is lost for the level, is named in its result, and takes part in the next one. All
// waits have limits. Lead owns no goroutine; Client owns one, in Run.

const (
	// ProtocolVersion is the version of the barrier; shards of different versions do not work
	// together.
	ProtocolVersion = 1
	// silenceLimit is the time without a status after which a shard is lost.
	silenceLimit = 10 * time.Second
	// statusInterval is the time between two status messages of a shard to shard 0.
	statusInterval = 250 * time.Millisecond
	// logWaitingEvery is the interval of messages about missing shards. They begin after
	// logWaitingAfter, because shards start at different times.
	logWaitingEvery, logWaitingAfter = time.Minute, 5 * time.Second
	// maxBody bounds requests and answers, which hold counts and no turns.
	maxBody = 16 << 20
)

const (
	pathStatus = "/v1/shard"
	pathClock  = "/v1/clock"
)

// ErrLeadUnreachable means that shard 0 cannot be reached.
var ErrLeadUnreachable = errors.New("shard 0 cannot be reached")

// refusedError is the reason why shard 0 refuses a shard. A retry does not help.
type refusedError string

func (e refusedError) Error() string { return "shard 0 refuses this shard: " + string(e) }

// Hello identifies a shard and holds what all shards must agree on.
type Hello struct {
	Protocol int    `json:"protocol"`
	Index    int    `json:"index"`
	Count    int    `json:"count"`
	Plan     string `json:"plan_sha256"`
	// Workload is a digest of the workload. The files of a plan may differ if it is equal.
	Workload string `json:"workload_sha256"`
	Seed     uint64 `json:"seed"`
	Mode     string `json:"mode"` // "grid", or describes the search
	// Process distinguishes a restarted process from the former one.
	Process string `json:"process"`
}

// differs describes the first disagreement of two shards, or returns "".
func (h Hello) differs(lead Hello) string {
	switch {
	case h.Protocol != lead.Protocol:
		return fmt.Sprintf("it speaks version %d of the barrier, shard 0 version %d: run the same synthetic everywhere", h.Protocol, lead.Protocol)
	case h.Count != lead.Count:
		return fmt.Sprintf("it is one of --shards=%d, shard 0 of --shards=%d", h.Count, lead.Count)
	case h.Index < 1 || h.Index >= h.Count:
		return fmt.Sprintf("--shard=%d: want 1 to %d beside shard 0", h.Index, h.Count-1)
	case h.Plan != lead.Plan:
		return fmt.Sprintf("its plan has the sha256 %.12s…, shard 0's %.12s…: give all the same file", h.Plan, lead.Plan)
	case h.Workload != lead.Workload:
		return "its workload differs although the plan is the same: give all shards the same files of conversations, traces and texts, and the same synthetic"
	case h.Seed != lead.Seed:
		return fmt.Sprintf("its seed is %d, shard 0's %d", h.Seed, lead.Seed)
	case h.Mode != lead.Mode:
		return fmt.Sprintf("it runs a %s, shard 0 a %s (--find-capacity, --resolution)", h.Mode, lead.Mode)
	}
	return ""
}

// status is posted by a shard.
type status struct {
	Hello
	// step is the last step that the shard saw. Done is set if the shard has finished it, and
	// always outside a level.
	Step int64 `json:"step"`
	Done bool  `json:"done,omitempty"`
	// report has new counts of the level; nil for none.
	Report *levelReport `json:"report,omitempty"`
	// Leaving says why the shard leaves the level or the sweep; "" if it stays.
	Leaving string `json:"leaving,omitempty"`
}

// levelReport holds the counts of a shard in the current level.
type levelReport struct {
	Result runfile.Result `json:"result"` // the counts of each block without latencies
	Counts
	Ended int `json:"ended"` // counts conversations, if the measurement ends by their number
	// TargetLost says why the target counts as dead, or "". Ours is set if the prober itself
	// cannot send, so that the target may be alive.
	TargetLost string `json:"target_lost,omitempty"`
	Ours       bool   `json:"ours,omitempty"`
}

// Counts summarises the turns of a measurement so far.
type Counts struct {
	// Turns counts ended turns, Failed the failed ones. Early is the mean duration of the first
	// turns, before a queue can form.
	Turns        uint64        `json:"turns"`
	Failed       uint64        `json:"failed"`
	Early        time.Duration `json:"early"`
	InFlight     int           `json:"in_flight"`
	OutputTokens uint64        `json:"output_tokens"`
}

// stepKind is the type of a step.
type stepKind string

const (
	stepWait    stepKind = "wait"
	stepPrepare stepKind = "prepare"
	stepLoad    stepKind = "load"
	stepHalt    stepKind = "halt"
	stepRuled   stepKind = "ruled"
	stepOver    stepKind = "over"
)

// step is the common step of all shards.
type step struct {
	// Number increases with each step and across restarts of shard 0.
	Number int64    `json:"number"`
	Kind   stepKind `json:"kind"`
	// Sweep distinguishes sweeps of the same plan.
	Sweep string `json:"sweep"`
	// Level belongs to StepPrepare.
	Level levelSpec `json:"level,omitzero"`
	// At is when a StepLoad begins or a StepHalt takes effect, by the clock of shard 0.
	At time.Time `json:"at,omitzero"`
	// ruling belongs to StepRuled.
	Ruling ruling `json:"ruling,omitzero"`
	Why    string `json:"why,omitempty"` // the reason of StepOver; "" if everything was measured
}

// levelSpec describes a level to other shards, with all that its texts depend on.
type levelSpec struct {
	cell
	WarmUp bool   `json:"warm_up,omitempty"` // set for the load before a variant's first level
	Model  string `json:"model"`
	Mark   string `json:"mark"` // part of texts that must be new to every cache
	// A text of Chars characters had Tokens tokens.
	Chars  int `json:"chars"`
	Tokens int `json:"tokens"`
	// Number of Total levels.
	Number int `json:"number"`
	Total  int `json:"total"`
}

// ruling is the end of a level.
type ruling struct {
	State   runfile.State         `json:"state"`
	Why     string                `json:"why,omitempty"`
	Verdict *runfile.LevelVerdict `json:"verdict,omitempty"`
	Lost    []runfile.LostShard   `json:"lost,omitempty"`
}
