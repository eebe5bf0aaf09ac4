package watch

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// missing is an objective that slower turns miss.
func missing(threshold time.Duration, target float64) func(*fleet.Job) {
	return func(j *fleet.Job) {
		j.Objectives = []slo.Objective{{SLI: slo.TTFT, Threshold: threshold, Objective: target}}
	}
}

// TestLastingLevel checks that a higher level becomes the usual one after three days if it misses no objective, and never
// if it does. An objective keeps its page up, too.
func TestLastingLevel(t *testing.T) {
	for name, tt := range map[string]struct {
		options func(*fleet.Job)
		moves   bool
	}{"minded by nobody": {nil, true}, "missing its objective": {missing(400*time.Millisecond, 0.95), false}} {
		f := learned(8, 30*time.Second)
		if tt.options != nil {
			tt.options(&f.job)
			f.Add(f.job)
		}
		before := f.usual()
		f.at(1.8, 3*day-2*time.Hour)
		near(t, name+": usual just before it", f.usual()/before, 1, 0.03)
		if v := f.restart(0).ttft(); !v.Moved.IsZero() || pages(v) == tt.moves {
			t.Errorf("%s: %+v", name, v)
		}
		if v := f.run(50 * time.Minute).ttft(); pages(v) == tt.moves {
			t.Errorf("%s, after a restart: %+v", name, v)
		}
		v := f.run(12 * time.Hour).ttft()
		if moved := !v.Moved.IsZero(); moved != tt.moves {
			t.Errorf("%s: taken for the usual: %v", name, moved)
		}
		if want := 1.8; tt.moves {
			near(t, name+": usual", f.usual()/before, want, 0.08)
			if either(v) {
				t.Errorf("%s: it is usual, and %+v", name, v)
			}
		} else {
			near(t, name+": usual", f.run(2*day).usual()/before, 1, 0.03)
		}
	}
}

// TestSmallRiseIsLearned checks that a small rise is learned within about a day, a large one is not, and a fall only
// after as many days as a quiet period may last.
func TestSmallRiseIsLearned(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		last  time.Duration
		want  float64
	}{{1.12, 30 * time.Hour, 1.12}, {2, 30 * time.Hour, 1}, {0.7, 30 * time.Hour, 1}, {0.7, 5 * day, 0.7}} {
		f := learned(8, 30*time.Second)
		before := f.usual()
		f.at(tt.ratio, tt.last)
		near(t, "usual", f.usual()/before, tt.want, 0.04)
	}
}

// TestFallThatStays checks that a fall to a level that stays raises the limit for some days at most.
func TestFallThatStays(t *testing.T) {
	f := learned(8, 30*time.Second)
	move := func() float64 { return f.jobs[f.key()].signals[0].Limits.Moves.Page[2] } // of 30 minutes
	f.run(5 * time.Minute)
	before := move()
	if after := f.at(0.6, 11*day).ttft(); move() > 2*before+0.1 {
		t.Errorf("days after a fall the largest move is %.2f, and was %.2f: %+v", move(), before, after)
	}
}

// TestAccept checks that the page of an accepted level ends, that the level is the usual one, also in the next process and
// in the minute in progress, and that a higher level pages.
func TestAccept(t *testing.T) {
	for _, ratio := range []float64{1.7, 5} {
		f := learned(8, 15*time.Second)
		f.at(ratio, time.Hour+30*time.Second)
		if !pages(f.ttft()) {
			t.Fatalf("×%v for an hour is no page: %+v", ratio, f.ttft())
		}
		accepted := f.Accept("a", "", time.Time{})
		if len(accepted) != 1 || f.now.Sub(accepted[0].Since) > 66*time.Minute || f.now.Sub(accepted[0].Since) < 50*time.Minute {
			t.Errorf("accepted %+v at %v", accepted, f.now)
		}
		near(t, "accepted ratio", accepted[0].Ratios[0].V/ratio, 1, 0.3)
		if either(f.ttft()) {
			t.Errorf("after it: %+v", f.ttft())
		}
		near(t, "usual", f.usual(), 0.2*ratio, 0.02*ratio)
		next := f.copy()
		for name, f := range map[string]*feed{"this process": f, "the next one": next} {
			if begun, opened := f.count(0, 12*time.Hour); begun+opened != 0 {
				t.Errorf("%s: %d pages and %d tickets of an accepted level", name, begun, opened)
			}
			f.ratio[0] *= 2
			if took := f.until(0, time.Hour, pages); took > 20*time.Minute {
				t.Errorf("%s: twice the accepted level paged after %v", name, took)
			}
		}
	}
}

// TestAcceptNothing checks Accept with a period without turns, in the future, and before all measurements.
func TestAcceptNothing(t *testing.T) {
	for name, since := range map[string]time.Time{"of the future": monday.Add(90 * day), "of no time": time.Unix(1, 0)} {
		f := learned(8, 15*time.Second)
		f.Accept("a", "chat", since)
		f.run(3 * time.Hour)
		near(t, name+": usual", f.usual(), 0.2, 0.01)
		near(t, name+": usual after a restart", f.copy().usual(), 0.2, 0.01)
	}
	f := newFeed(nil)
	f.Accept("a", "", time.Time{})
	if v := f.run(time.Hour).ttft(); !v.Learning {
		t.Errorf("a new job: %+v", v)
	}
}

// TestNightlyHabit checks that two slow hours of each night are expected after some nights and learned for their time of
// day, and that the rest of the day keeps its usual level.
func TestNightlyHabit(t *testing.T) {
	f := newFeed(nil)
	f.run(7 * day) // to a Monday
	f.shape = func(at time.Time) float64 {
		if h := at.Hour(); h == 2 || h == 3 {
			return math.Log(1.7)
		}
		return 0
	}
	f.run(5 * day)
	if begun, _ := f.count(0, 6*day); begun != 0 {
		t.Errorf("%d pages of a habit of nights", begun)
	}
	f.run(3 * time.Hour)
	near(t, "at three", f.usual(), 0.34, 0.05)
	f.run(9 * time.Hour)
	near(t, "at noon", f.usual(), 0.2, 0.02)
}

// TestExpected checks that a rise that came at the same time of the last two weeks does not page, nor one that comes each
// night within some hours, and that one at another time, or a much higher one, does.
func TestExpected(t *testing.T) {
	slow := func(when func(at time.Time) bool, ratio float64) func(time.Time) float64 {
		return func(at time.Time) float64 {
			if when(at) {
				return math.Log(ratio)
			}
			return 0
		}
	}
	weekly := func(at time.Time) bool { return at.Weekday() == time.Wednesday && at.Hour() == 10 }
	night := func(at time.Time) bool { // half an hour that begins between 1 and 4 o'clock
		begin := at.Truncate(day).Add(time.Hour + time.Duration(at.YearDay()*7919%180)*time.Minute)
		return !at.Before(begin) && at.Before(begin.Add(40*time.Minute))
	}
	past := func(when func(at time.Time) bool) *feed {
		f := newFeed(nil)
		f.every, f.shape = 30*time.Second, slow(when, 1.7)
		return f.run(15 * day) // to a Tuesday
	}
	weeks, nights := past(weekly), past(night)
	for name, tt := range map[string]struct {
		before *feed
		now    func(at time.Time) bool
		ratio  float64
		pages  bool
	}{
		"weekly":            {weeks, weekly, 1.7, false},
		"nightly":           {nights, night, 1.7, false},
		"weekly, higher":    {weeks, weekly, 4, true},
		"two hours later":   {weeks, func(at time.Time) bool { return weekly(at.Add(-2 * time.Hour)) }, 1.7, true},
		"a day later":       {weeks, func(at time.Time) bool { return weekly(at.Add(-day)) }, 1.7, true},
		"at noon, no night": {nights, func(at time.Time) bool { return night(at.Add(-10 * time.Hour)) }, 1.7, true},
	} {
		f := tt.before.copy()
		f.shape = slow(tt.now, tt.ratio)
		if begun, _ := f.count(0, 3*day); begun > 0 != tt.pages {
			t.Errorf("%s: %d pages", name, begun)
		}
	}
}

// TestDeclaredChanges checks that turns of a change window are not learned, that nothing pages in it, and that relearning discards what was usual, once, also if no process ran at the end.
func TestDeclaredChanges(t *testing.T) {
	begin := monday.Add(8*day + time.Hour)
	once := func(c fleet.Change) func(*fleet.Job) { return func(j *fleet.Job) { j.Changes = []fleet.Change{c} } }
	t.Run("once", func(t *testing.T) {
		f := newFeed(once(fleet.Change{From: begin, To: begin.Add(2 * day)}))
		f.run(8*day + time.Hour)
		before := f.ttft().HalfHours
		f.at(1.15, 2*day-time.Minute)
		if v := f.ttft(); v.HalfHours > before+1 {
			t.Errorf("%d half hours were learned", v.HalfHours-before)
		}
		near(t, "usual", f.usual(), 0.2, 0.01)
	})
	t.Run("weekly", func(t *testing.T) {
		f := newFeed(once(fleet.Change{From: monday.Add(time.Hour), To: monday.Add(3 * time.Hour), Weekly: true}))
		f.run(7*day + 70*time.Minute)
		f.ratio[0] = 1.8
		if begun, _ := f.count(0, 90*time.Minute); begun != 0 {
			t.Errorf("×1.8 in the window pages %d times", begun)
		}
		f.at(1, day)
		f.ratio[0] = 1.8
		if took := f.until(0, time.Hour, pages); took > 20*time.Minute {
			t.Errorf("×1.8 on another day paged after %v", took)
		}
	})
	t.Run("relearn", func(t *testing.T) {
		f := newFeed(once(fleet.Change{From: begin, To: begin.Add(time.Hour), Relearn: true}))
		f.run(8*day + 90*time.Minute)
		down := f.copy().restart(90 * time.Minute)
		for name, f := range map[string]*feed{"running": f.at(2, 30*time.Minute+time.Second), "down": down.at(2, time.Minute)} {
			if v := f.ttft(); !v.Learning || v.HalfHours > 1 {
				t.Errorf("%s: what was usual stands: %+v", name, v)
			}
			v := f.run(5 * time.Hour).restart(0).run(time.Minute).ttft()
			if v.Learning || either(v) {
				t.Errorf("%s, and learned anew: %+v", name, v)
			}
			near(t, name+": usual", f.usual(), 0.4, 0.03)
		}
	})
}

// TestLocalTime checks that the shape of a day follows the clock of the users over a change to daylight saving, and that
// another zone is a change of shape, not a loss.
func TestLocalTime(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed(func(j *fleet.Job) { j.Location = zone })
	f.now = time.Date(2026, 2, 24, 5, 0, 0, 0, time.UTC) // summer time begins on 8 March
	f.start()
	f.shape = func(at time.Time) float64 {
		if h := at.In(zone).Hour(); h >= 9 && h < 17 {
			return math.Log(2)
		}
		return 0
	}
	f.run(12 * day)
	if begun, _ := f.count(0, 3*day); begun != 0 {
		t.Errorf("%d pages around the change of the clocks", begun)
	}
	f.run(12 * time.Hour) // 13 o'clock or so
	near(t, "usual at one o'clock", f.usual(), 0.4, 0.04)
	half := f.ttft().HalfHours
	f.job.Location = time.UTC
	f.Add(f.job)
	if v := f.ttft(); v.HalfHours != half {
		t.Errorf("another zone: %d half hours are known, before %d", v.HalfHours, half)
	}
	at := func(day, hour int) int32 { return numberOf(time.Date(2026, 3, day, hour, 0, 0, 0, zone)) }
	for name, earlier := range map[string][]int32{"three days": {at(6, 10), at(7, 10), at(8, 10)}, "two weeks": {at(-5, 10), at(2, 10)}} {
		s := signal{policy: fleet.DefaultPolicy(), past: past{Usual: usual{zone: zone, level: math.Log(0.2)}}}
		for _, number := range earlier {
			s.Usual.put(entry{Number: number, Mean: float32(math.Log(0.4)), Turns: 100})
		}
		if !s.repeats(&entry{Number: at(9, 10), Mean: float32(math.Log(0.4)), Turns: 100}) {
			t.Errorf("%s at ten o'clock do not repeat after the change of the clocks", name)
		}
	}
}

// TestStrictest checks that the lowest threshold that covers the turns is used, with its budget.
func TestStrictest(t *testing.T) {
	objectives := []slo.Objective{
		{SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.9},
		{SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{SLI: slo.TPOT, Threshold: time.Millisecond, Objective: 0.5, Turns: []probe.TurnKind{probe.Followup}},
	}
	key := probe.Key{Target: "a", Workload: "chat"}
	if o := strictest(objectives, slo.TTFT, key, probe.First); o.threshold != time.Second || math.Abs(o.budget-0.01) > 1e-9 {
		t.Errorf("TTFT: %+v", o)
	}
	if o := strictest(objectives, slo.TPOT, key, probe.First); o != (objective{}) {
		t.Errorf("TPOT of first turns: %+v, want none", o)
	}
}
