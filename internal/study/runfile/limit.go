package runfile

import "fmt"

// The prober was the limit of a level, which is then not judged, if more than 1 turn in
// spoiledShare was left out, or if its CPU limit stopped it for more than throttledShare of the
// time. A level may lack as much of its load (see ReachedShare).
const (
	spoiledShare   = 100
	throttledShare = 1 - ReachedShare
)

// remedy is the advice for a prober that is the limit.
const remedy = "give it more CPU, or share the load among more processes (--shards)"

// Limit describes how the prober or its machine was the limit, and what helps, or returns "". A
// limited measurement proves nothing about the deployment's capacity.
func (r Result) Limit() string {
	if r.Throttled != nil && *r.Throttled > throttledShare {
		return fmt.Sprintf("the CPU limit of its cgroup kept the prober from running for %.0f%% of the time; %s", 100**r.Throttled, remedy)
	}
	if turns, of := r.LeftOut(); turns*spoiledShare > of {
		return fmt.Sprintf("the prober itself was later than an SLO bears, or could not send, in %d of %d turns; %s", turns, of, remedy)
	}
	return ""
}

func (r Result) Spoiled() bool { return r.Limit() != "" }
