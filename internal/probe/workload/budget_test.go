package workload

import (
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	// step asks at a time in seconds, then settles.
	type step struct {
		at       float64
		estimate int
		want     bool
		settle   int // actual tokens; -1 means not settled yet
	}
	tests := map[string][]step{
		"a full minute at once, then by the rate": {
			{0, 600, true, 600}, {0, 1, false, 0}, {1, 10, true, 10}, {1, 1, false, 0}, {61, 600, true, 600},
		},
		"what was not used comes back": {
			{0, 600, true, 100}, {0, 500, true, 500}, {0, 1, false, 0},
		},
		"what was used in excess is owed": {
			{0, 600, true, 1200}, {59, 1, false, 0}, {61, 10, true, 10},
		},
		"a debt of nonsense is an hour's at most": {
			{0, 600, true, 1 << 50}, {3600, 10, false, 0}, {3602, 10, true, 10},
		},
		"in flight counts as estimated": {
			{0, 400, true, -1}, {0, 400, false, 0}, {0, 200, true, -1},
		},
		"more than a minute's worth waits for a full bucket": {
			{0, 1, true, 1}, {0.05, 6000, false, 0}, {0.2, 6000, true, 6000}, {500, 1, false, 0}, {601, 10, true, 10},
		},
		"idle time is not saved up": {
			{0, 1, true, 1}, {3600, 600, true, 600}, {3600, 1, false, 0},
		},
		"a clock that steps back gives nothing": {
			{10, 600, true, 600}, {5, 1, false, 0}, {11, 10, true, 10}, {11, 10, false, 0},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			b := NewBudget(TokenBudget{600, time.Minute})
			for i, s := range steps {
				now := begin.Add(time.Duration(s.at * float64(time.Second)))
				if got := b.Allow(now, s.estimate, false); got != s.want {
					t.Fatalf("step %d: Allow(%d) at %v s is %v", i, s.estimate, s.at, got)
				}
				if s.want && s.settle >= 0 {
					b.Settle(s.estimate, s.settle)
				}
			}
		})
	}
}

// TestBudgetOfADay checks that a day's budget is spread evenly, that a new process has an
// hour's tokens.
func TestBudgetOfADay(t *testing.T) {
	tests := map[string]struct {
		budget            TokenBudget
		atOnce, inTheDay  int // conversations of 100 tokens
		afterAnHourOfRest int
	}{
		"a day's":             {TokenBudget{24_000, 24 * time.Hour}, 10, 250, 10},
		"an hour's":           {TokenBudget{1_000, time.Hour}, 10, 250, 10},
		"less than an hour's": {TokenBudget{1_200, 24 * time.Hour}, 1, 13, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b, now := NewBudget(tc.budget), time.Unix(1_700_000_000, 0)
			take := func() (n int) {
				for b.Allow(now, 100, false) {
					b.Settle(100, 100)
					n++
				}
				return n
			}
			if got := take(); got != tc.atOnce {
				t.Errorf("%d conversations at once, want %d", got, tc.atOnce)
			}
			all := tc.atOnce
			for range 24 * 60 {
				now = now.Add(time.Minute)
				all += take()
			}
			if all < tc.inTheDay-1 || all > tc.inTheDay {
				t.Errorf("%d conversations in a day, want %d", all, tc.inTheDay)
			}
			now = now.Add(time.Hour)
			if got := take(); got != tc.afterAnHourOfRest {
				t.Errorf("%d conversations after an hour of rest, want %d", got, tc.afterAnHourOfRest)
			}
		})
	}
}

func TestNoBudgetAllowsEverything(t *testing.T) {
	b := NewBudget(TokenBudget{})
	if !b.Allow(time.Now(), 1<<40, false) {
		t.Error("refused without a budget")
	}
	b.Settle(1, 2)
}

// TestExtraStartsLeaveHalf checks that a burst leaves half of the budget.
func TestExtraStartsLeaveHalf(t *testing.T) {
	b, now := NewBudget(TokenBudget{600, time.Minute}), time.Unix(1_700_000_000, 0)
	if b.Allow(now, 301, true) || !b.Allow(now, 200, true) || !b.Allow(now, 100, true) || b.Allow(now, 1, true) || !b.Allow(now, 300, false) {
		t.Error("extra starts do not leave half of the bucket, or do not get the other half")
	}
}
