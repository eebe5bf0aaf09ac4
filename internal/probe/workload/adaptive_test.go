package workload

import (
	"testing"
	"time"
)

// wary returns traffic of 2 conversations a minute with bursts of 12 a minute.
func wary() Traffic {
	return Traffic{
		Arrival:   Arrival{Process: Constant, Rate: 2. / 60},
		BurstRate: 0.2,
	}
}

// paced runs a pace for a time. It returns the numbers of starts and of burst starts, and when
// the bursts started.
func paced(seen func(after time.Duration) Sign, length time.Duration) (due, extra int, bursts []time.Duration) {
	p := NewPace(wary())
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for after := time.Duration(0); after < length; after += 5 * time.Second {
		s := p.Decide(begin.Add(after), seen(after))
		if s.Reason != "" {
			bursts = append(bursts, after)
		}
		if s.Due {
			due++
		}
		if s.Burst {
			extra++
		}
	}
	return due, extra, bursts
}

func TestPace(t *testing.T) {
	during := func(from, to time.Duration, s Sign) func(time.Duration) Sign {
		return func(after time.Duration) Sign {
			if after >= from && after < to {
				return s
			}
			return Sign{}
		}
	}
	for name, tt := range map[string]struct {
		seen       func(time.Duration) Sign
		due, extra int // minimum counts in an hour; two more are allowed
		bursts     int
	}{
		"nothing seen":              {during(0, 0, Sign{}), 120, 0, 0},
		"half of the way to a page": {during(0, 0, Sign{Score: 0.49}), 120, 0, 0},
		"one failure": {
			during(10*time.Minute, 10*time.Minute+20*time.Second, Sign{Failed: 1}), 130, 10, 1, // a minute
		},
		"a level that rose": {
			during(10*time.Minute, 13*time.Minute, Sign{Score: 0.7}), 140, 20, 1, // two minutes, and none in the cool-down
		},
		"what goes on for long": {during(0, time.Hour, Sign{Score: 0.7}), 200, 80, 4},
		"a turn that takes too long": {
			during(10*time.Minute, 10*time.Minute+20*time.Second, Sign{Overdue: true}), 130, 10, 1,
		},
		"an outage that is told":   {during(0, time.Hour, Sign{Failed: 12}), 120, 0, 0},
		"a hang that is told, too": {during(0, time.Hour, Sign{Overdue: true, Known: true}), 120, 0, 0},
	} {
		due, extra, bursts := paced(tt.seen, time.Hour)
		if due < tt.due || due > tt.due+2 || extra < tt.extra || extra > tt.extra+2 || len(bursts) != tt.bursts {
			t.Errorf("%s: %d starts, %d of them extra, bursts at %v; want %d, %d and %d bursts", name, due, extra, bursts, tt.due, tt.extra, tt.bursts)
		}
	}
}

// TestCalmStartsAreTheSame checks that a burst does not move the base starts, so that they
// remain a fair sample over time.
func TestCalmStartsAreTheSame(t *testing.T) {
	calm, _, _ := paced(func(time.Duration) Sign { return Sign{} }, 6*time.Hour)
	due, extra, _ := paced(func(after time.Duration) Sign { return Sign{Failed: int(after/time.Minute) % 3} }, 6*time.Hour)
	if due-extra != calm || extra == 0 {
		t.Errorf("%d starts with %d extra, and %d without bursts", due, extra, calm)
	}
}

func TestNoPace(t *testing.T) {
	fast, closed := wary(), wary()
	fast.Rate = 0.2
	closed.Process = Closed
	for name, tr := range map[string]Traffic{"as fast as a burst": fast, "closed": closed, "not adaptive": {Arrival: Arrival{Rate: 1}}} {
		if NewPace(tr) != nil {
			t.Errorf("%s: there is a pace", name)
		}
	}
}
