// Package shard keeps the processes that carry the load of one sweep together, its
// shards, in step: a barrier over HTTP, which shard 0 serves.
//
// Shard 0 is the sweep: it chooses the levels, waits for the deployment, judges and
// stops. The others follow it. Everything is one kind of request: several times a
// second a shard posts its Status – which step it has come to, whether it is done
// with it, and each second of a measurement what it counted – and is answered with
// the Step that all are to be at:
//
//	                 Lead                         Client
//	prepare  →  what level it is                  makes its part of it, primes caches
//	         ←                                    done
//	load     →  when it begins                    carries its part
//	         ←                                    a report each second
//	(halt    →  when it ends before its time      ends then)
//	         ←                                    done, with the last report
//	ruled    →  how it ended, and its verdict     keeps its result
//	over     →  why the sweep ends                ends
//
// A Status is also the sign of life. Who gives none for Silence, leaves, is started
// again or is far behind, is lost for the level: it is named, and comes back with
// the next one. Nobody waits without an end.
//
// The types are plain. Lead owns what is known of the shards, and no goroutine: an
// http.Server serves it. Client owns one goroutine, in Run.
package sweep

import (
	"errors"
	"fmt"
	"time"

	"synthetic/internal/study/runfile"
)

const (
	// Protocol is the version of what is said here; shards of different ones do not
	// work together.
	ProtocolVersion = 1
	// Silence is how long a shard may give no sign of life.
	SilenceLimit = 10 * time.Second
	// beat is how often it gives one.
	statusInterval = 250 * time.Millisecond
	// whyEvery is how often it is told who is waited for, and patient how long that
	// is nothing to tell of: shards do not start at one moment.
	logWaitingEvery, logWaitingAfter = time.Minute, 5 * time.Second
	// mostBody bounds a request and its answer: blocks of counts, no turns.
	maxBody = 16 << 20
)

// Paths of the barrier.
const (
	pathStatus = "/v1/shard"
	pathClock  = "/v1/clock"
)

// ErrAway is the error of a shard 0 that cannot be reached.
var ErrLeadUnreachable = errors.New("shard 0 cannot be reached")

// RefusedError says why shard 0 does not take a shard in; trying again is no use.
type RefusedError string

func (e RefusedError) Error() string { return "shard 0 refuses this shard: " + string(e) }

// Hello is who a shard is, and what all have to agree on.
type Hello struct {
	Protocol int    `json:"protocol"`
	Index    int    `json:"index"`
	Count    int    `json:"count"`
	Plan     string `json:"plan_sha256"`
	// Workload is what the plan makes of its files: they may differ where it does not.
	Workload string `json:"workload_sha256"`
	Seed     uint64 `json:"seed"`
	// Mode is grid, or how is searched.
	Mode string `json:"mode"`
	// Process tells a process from the one before it.
	Process string `json:"process"`
}

// differs says what two shards do not agree on, "" if nothing.
func (h Hello) differs(of Hello) string {
	switch {
	case h.Protocol != of.Protocol:
		return fmt.Sprintf("it speaks version %d of the barrier, shard 0 version %d: run the same synthetic everywhere", h.Protocol, of.Protocol)
	case h.Count != of.Count:
		return fmt.Sprintf("it is one of --shards=%d, shard 0 of --shards=%d", h.Count, of.Count)
	case h.Index < 1 || h.Index >= h.Count:
		return fmt.Sprintf("--shard=%d: want 1 to %d beside shard 0", h.Index, h.Count-1)
	case h.Plan != of.Plan:
		return fmt.Sprintf("its plan has the sha256 %.12s…, shard 0's %.12s…: give all the same file", h.Plan, of.Plan)
	case h.Workload != of.Workload:
		return "it says something else by the same plan: give all shards the same files of conversations, traces and texts, and the same synthetic"
	case h.Seed != of.Seed:
		return fmt.Sprintf("its seed is %d, shard 0's %d", h.Seed, of.Seed)
	case h.Mode != of.Mode:
		return fmt.Sprintf("it makes a %s, shard 0 a %s (--find-capacity, --resolution)", h.Mode, of.Mode)
	}
	return ""
}

// Status is what a shard posts.
type Status struct {
	Hello
	// Step is the number of the last step that it saw, Done whether it has done
	// what that asks for. A shard that is in no level is always done.
	Step int64 `json:"step"`
	Done bool  `json:"done,omitempty"`
	// Report is new counts of the level; nil for none.
	Report *Report `json:"report,omitempty"`
	// Leaving says why it leaves the level, or for good; "" while it stays.
	Leaving string `json:"leaving,omitempty"`
}

// Report is what a shard counted of a level until now.
type Report struct {
	// Result has the counts of each block, and no latencies.
	Result runfile.Result `json:"result"`
	Counts
	// Ended are the conversations of a measurement that counts them.
	Ended int `json:"ended"`
	// TargetLost says why the target is taken for dead, or "". Ours says that it may
	// well be alive: the prober itself cannot send.
	TargetLost string `json:"target_lost,omitempty"`
	Ours       bool   `json:"ours,omitempty"`
}

// Counts are the turns of a measurement until now.
type Counts struct {
	// Turns that ended, Failed of them; Early is the mean duration of the first of
	// them, before any queue.
	Turns  uint64        `json:"turns"`
	Failed uint64        `json:"failed"`
	Early  time.Duration `json:"early"`
	// InFlight turns now.
	InFlight     int    `json:"in_flight"`
	OutputTokens uint64 `json:"output_tokens"`
}

// Kind is what a step asks for.
type StepKind string

// Kinds of steps.
const (
	StepWait    StepKind = "wait"
	StepPrepare StepKind = "prepare"
	StepLoad    StepKind = "load"
	StepHalt    StepKind = "halt"
	StepRuled   StepKind = "ruled"
	StepOver    StepKind = "over"
)

// Step is where all shards are to be.
type Step struct {
	// Number rises from step to step, and is another one after a restart of shard 0.
	Number int64    `json:"number"`
	Kind   StepKind `json:"kind"`
	// Sweep tells one sweep from another of the same plan.
	Sweep string `json:"sweep"`
	// Level is that of Prepare.
	Level LevelSpec `json:"level,omitzero"`
	// At is when a Load begins and when a Halt ends it, on shard 0's clock.
	At time.Time `json:"at,omitzero"`
	// Ruling is that of Ruled.
	Ruling Ruling `json:"ruling,omitzero"`
	// Why says why it is Over; "" when everything was measured.
	Why string `json:"why,omitempty"`
}

// Level is one level of a sweep, and what all have to know to say the same in it.
type LevelSpec struct {
	// Variant and Level are places in the plan's lists.
	Variant    int `json:"variant"`
	Level      int `json:"level"`
	Repetition int `json:"repetition"`
	// WarmUp says that it is the load before a variant's first level.
	WarmUp bool   `json:"warm_up,omitempty"`
	Model  string `json:"model"`
	// Mark stands in texts that are to be new to every cache.
	Mark string `json:"mark"`
	// A text of so many Chars had so many Tokens.
	Chars  int `json:"chars"`
	Tokens int `json:"tokens"`
	// Number of Total levels.
	Number int `json:"number"`
	Total  int `json:"total"`
}

// Ruling is how a level ended.
type Ruling struct {
	State   runfile.State         `json:"state"`
	Why     string                `json:"why,omitempty"`
	Verdict *runfile.LevelVerdict `json:"verdict,omitempty"`
	Lost    []runfile.LostShard   `json:"lost,omitempty"`
}
