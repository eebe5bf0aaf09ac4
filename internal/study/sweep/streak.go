package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
)

const (
	// lostTurns failures in a row, over at least lostAfter, make a target dead.
	lostTurns = 20
	lostAfter = 10 * time.Second
)

// streak counts the turns that failed in a row as those of a dead target do. A
// deployment that is busy (429) or slow (timeouts) is not dead: that is what a
// sweep measures.
type streak struct {
	since    time.Time
	n        int
	outcomes map[probe.Outcome]int
	last     string
}

func (s *streak) add(r probe.Result) {
	switch r.Outcome {
	case probe.Canceled:
		return
	case probe.ConnectError, probe.TLSError, probe.HTTP5xx, probe.HTTP4xx, probe.Truncated:
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

// targetLost says why the target is taken for dead at a time, or "".
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
