package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runs"
)

// ending is why a measurement ended.
type ending struct {
	state      runs.State
	why        string
	targetLost bool // the target no longer answers
	ours       bool // because the prober cannot send
}

const (
	// lostTurns consecutive failures, over at least lostAfter, mean that the target is dead.
	lostTurns = 20
	lostAfter = 10 * time.Second
)

// streak counts consecutive turns that failed as with a dead target or could not be sent. A
// busy (429) or slow (timeouts) deployment is not dead: a sweep measures these.
type streak struct {
	since    time.Time
	n        int
	outcomes map[probe.Outcome]int
	last     string
}

func (s *streak) add(r *probe.Result) {
	switch r.Outcome {
	case probe.Canceled, probe.UserCanceled, probe.ProberLate:
		return
	case probe.NotSent, probe.ConnectError, probe.TLSError, probe.HTTP5xx, probe.HTTP4xx, probe.Malformed, probe.Truncated:
	default:
		*s = streak{}
		return
	}
	if s.n == 0 {
		s.since, s.outcomes = r.End, map[probe.Outcome]int{}
	}
	s.n++
	s.outcomes[r.Outcome]++
	s.last = r.Err
}

// targetLost says why the target counts as dead, or returns "".
func (s *streak) targetLost(now time.Time) string {
	if s.n < lostTurns || now.Sub(s.since) < lostAfter {
		return ""
	}
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(s.outcomes)) {
		parts = append(parts, fmt.Sprintf("%s %d", o, s.outcomes[o]))
	}
	return fmt.Sprintf("no turn succeeds any more: the last %d turns failed (%s), the first of them %s ago; the last said: %s",
		s.n, strings.Join(parts, ", "), now.Sub(s.since).Round(time.Second), s.last)
}
