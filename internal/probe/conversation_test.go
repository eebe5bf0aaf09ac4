package probe

import (
	"testing"
	"time"
)

// TestLagOfLanes checks the lateness that counts: that of every turn except the first one of the first lane, before
// which the session has not begun.
func TestLagOfLanes(t *testing.T) {
	due := time.Now()
	turn := func(late time.Duration) *Result {
		return &Result{Scheduled: due, Sent: due.Add(late), End: due.Add(time.Minute), Outcome: Success}
	}
	var first, second Conversation
	first.add(turn(time.Second))
	first.add(turn(2 * time.Second))
	second.add(turn(4 * time.Second))
	second.add(turn(8 * time.Second))
	first.Merge(second)
	if first.Lag != 14*time.Second {
		t.Errorf("lag of %s, want 14s", first.Lag)
	}
}
