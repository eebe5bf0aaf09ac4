package probe

import (
	"cmp"
	"strings"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// Key names a job: the values of the labels target and workload.
type Key struct{ Target, Workload string }

// String is the key as conversations are named after it, "target/workload".
func (k Key) String() string { return k.Target + "/" + k.Workload }

// Compare orders keys by target, then by workload.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Target, other.Target), strings.Compare(k.Workload, other.Workload))
}

// Job is one workload sent continuously to one target. It is a plain value:
// jobs that compare deeply equal are the same job.
type Job struct {
	Target   target.Target
	Workload workload.Spec
	Traffic  workload.Traffic
	// User is the endpoint that writes the follow-up messages; nil for script
	// or generated ones.
	User *target.Target
}

// Key returns the job's key.
func (j Job) Key() Key { return Key{j.Target.Name, j.Workload.Name} }
