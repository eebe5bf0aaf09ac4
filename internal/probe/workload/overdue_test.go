package workload

import (
	"testing"
	"time"
)

// TestOverdue: a turn is overdue if it is much older than turns of the job become, and than a third of the timeout.
func TestOverdue(t *testing.T) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		usual time.Duration
		turns int
		// limit is the largest age that is not overdue; 0 means that no age is.
		limit time.Duration
	}{
		"quick turns": {time.Second, minAges, 10 * time.Second},
		"slow turns":  {8 * time.Second, minAges, 16 * time.Second},
		"few turns":   {time.Second, minAges - 1, 0},
	} {
		a := NewAges(Timeouts{FirstToken: 30 * time.Second})
		for range tt.turns {
			a.Begin(begin)(begin.Add(tt.usual), true)
		}
		a.Begin(begin)(begin.Add(time.Minute), false) // a failed turn does not show how long turns take
		end, limit := a.Begin(begin), tt.limit
		if limit == 0 {
			limit = time.Hour
		} else if !a.Overdue(begin.Add(limit * 11 / 10)) {
			t.Errorf("%s: not overdue after %s", name, limit*11/10)
		}
		if a.Overdue(begin.Add(limit)) {
			t.Errorf("%s: overdue after %s", name, limit)
		}
		if end(begin.Add(limit), false); a.Overdue(begin.Add(2 * time.Hour)) {
			t.Errorf("%s: overdue after its end", name)
		}
	}
}

// TestLongestTurnIsForgotten: after one long turn and a day of short ones, the short ones decide.
func TestLongestTurnIsForgotten(t *testing.T) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	a := NewAges(Timeouts{FirstToken: 30 * time.Second})
	a.Begin(begin)(begin.Add(time.Minute), true)
	for range 5000 {
		a.Begin(begin)(begin.Add(time.Second), true)
	}
	if a.Begin(begin); !a.Overdue(begin.Add(11 * time.Second)) {
		t.Error("a turn of a minute is remembered after 5,000 short ones")
	}
}
