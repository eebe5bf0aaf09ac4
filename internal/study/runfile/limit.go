package runfile

import "fmt"

// The prober itself was the limit of a level, which is then not judged, from one
// turn left out in so many, and from such a share of the time on that its CPU limit
// took from it: what it lacked is as much as a load may lack (see ReachedShare).
const (
	spoiledShare   = 100
	throttledShare = 1 - ReachedShare
)

// remedy is what helps a prober that is the limit.
const remedy = "give it more CPU, or share the load among more processes (--shards)"

// Limit says that the prober or its machine was the limit, by how much, and what
// helps: what was measured then says nothing of the deployment's capacity. "" when
// they were not.
func (r Result) Limit() string {
	if r.Throttled != nil && *r.Throttled > throttledShare {
		return fmt.Sprintf("the CPU limit of its cgroup kept the prober from running for %.0f%% of the time; %s", 100**r.Throttled, remedy)
	}
	if turns, of := r.LeftOut(); turns*spoiledShare > of {
		return fmt.Sprintf("the prober itself was later than an SLO bears, or could not send, in %d of %d turns; %s", turns, of, remedy)
	}
	return ""
}

// Spoiled reports whether the prober or its machine was the limit.
func (r Result) Spoiled() bool { return r.Limit() != "" }
