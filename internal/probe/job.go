package probe

import (
	"cmp"
	"strings"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// Key identifies a job by the values of the labels target and workload.
type Key struct{ Target, Workload string }

// String returns "target/workload".
func (k Key) String() string { return k.Target + "/" + k.Workload }

// Compare orders keys by target, then by workload.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Target, other.Target), strings.Compare(k.Workload, other.Workload))
}

// Job is one workload that is sent to one target continuously. It is a plain value: two deeply
// equal jobs are the same job.
type Job struct {
	Target   target.Target
	Workload workload.Spec
	Traffic  workload.Traffic
}

// Key returns the job's key.
func (j Job) Key() Key { return Key{j.Target.Name, j.Workload.Name} }

// Plan describes one conversation to run.
type Plan struct {
	Conversation workload.Conversation
	// ID names the conversation in results; "" means a random one.
	ID string
	// Scheduled is when the first turn is due.
	Scheduled time.Time
	// Burst is true for a conversation that exists only because of a burst.
	Burst bool
	Model string
	// Stop, once closed, prevents further turns. The turn in flight finishes.
	Stop <-chan struct{}
	// Memory is the conversation's share of the memory for texts: at least the Cost of its
	// opening. It grows with the turns. nil means no limit.
	Memory *bound.Claim
}
