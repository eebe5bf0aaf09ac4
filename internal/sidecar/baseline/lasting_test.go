package baseline

import (
	"math"
	"testing"
	"time"
)

// TestLastingLevel checks that a higher level becomes the baseline after AcceptAfter if it
// violates no objective, and never if it does.
func TestLastingLevel(t *testing.T) {
	minding := options{}
	minding.Thresholds[0][0], minding.Budgets[0][0] = 350*time.Millisecond, 0.05
	for name, tt := range map[string]struct {
		options options
		moves   bool
	}{"minded by nobody": {options{}, true}, "missing its objective": {minding, false}} {
		f := newFeed(tt.options)
		f.usual = 170 * time.Millisecond
		f.run(8 * day)
		before := f.view().Baseline.V
		f.at(1.6, 3*day-time.Hour)
		near(t, name+": baseline just before it", f.view().Baseline.V/before, 1, 0.03)
		if !f.view().Moved.IsZero() {
			t.Errorf("%s: taken for the usual at %v, too early", name, f.view().Moved)
		}
		v := f.run(12 * time.Hour).view()
		if moved := !v.Moved.IsZero(); moved != tt.moves {
			t.Errorf("%s: taken for the usual: %v", name, moved)
		}
		if !tt.moves {
			near(t, name+": baseline", f.run(10*day).view().Baseline.V/before, 1, 0.03)
			continue
		}
		near(t, name+": baseline", v.Baseline.V/before, 1.6, 0.05)
		if pages(v) || tickets(v) {
			t.Errorf("%s: it is usual, and %+v", name, v)
		}
	}
}

// TestNightlyHabit checks that two slow hours of each night are learned for their time of day
// after some nights, and that the rest of the day keeps its baseline.
func TestNightlyHabit(t *testing.T) {
	night := func(at time.Time) float64 {
		if h := at.Hour(); h == 2 || h == 3 {
			return math.Log(1.6)
		}
		return 0
	}
	minding := options{}
	minding.Thresholds[0][0], minding.Budgets[0][0] = 300*time.Millisecond, 0.2
	for name, tt := range map[string]struct {
		options options
		want    float64
	}{"minded by nobody": {options{}, 1.6}, "missing its objective": {minding, 1}} {
		f := newFeed(tt.options)
		f.run(7 * day) // to a Monday
		f.shape = night
		f.run(3 * day)
		usual := func(hour time.Duration) float64 {
			return f.views(f.now)[0][0].Baseline.V * math.Exp(f.series[0][0].baseline.shapeAt(f.now.Add(hour*time.Hour))-f.series[0][0].baseline.shapeAt(f.now))
		}
		near(t, name+": at three after three nights", usual(3), 0.2, 0.03)
		f.run(8 * day) // to a Friday
		near(t, name+": at three after most of ten weekdays", usual(3), 0.2*tt.want, 0.04)
		near(t, name+": at noon", usual(12), 0.2, 0.02)
	}
}

// TestSmallRiseIsLearned checks that a small rise is learned within about a day, a large one is
// not, and a fall only after as many days as a quiet period may last.
func TestSmallRiseIsLearned(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		last  time.Duration
		want  float64
	}{{1.12, 30 * time.Hour, 1.12}, {2, 30 * time.Hour, 1}, {0.7, 30 * time.Hour, 1}, {0.7, 5 * day, 0.7}} {
		f := newFeed(options{})
		f.run(8 * day)
		before := f.view().Baseline.V
		near(t, "baseline", f.at(tt.ratio, tt.last).view().Baseline.V/before, tt.want, 0.03)
	}
}

// TestAccept checks that an accepted level does not page, and that a higher one does.
func TestAccept(t *testing.T) {
	f := newFeed(options{})
	f.run(6*day + 10*time.Minute)
	f.at(1.6, time.Hour)
	if !pages(f.view()) && !tickets(f.view()) {
		t.Fatalf("×1.6 for an hour is nothing: %+v", f.view())
	}
	f.accept(f.now.Add(-time.Hour), f.now)
	near(t, "baseline", f.view().Baseline.V, 0.32, 0.02)
	restarted, archive := f.now, f.archive()
	if n := f.pagesIn(day); n != 0 || tickets(f.view()) {
		t.Errorf("%d pages in a day at an accepted level, then %+v", n, f.view())
	}
	// The next process knows the accepted level, too.
	next := newFeed(options{})
	next.now, next.ratio = restarted, f.ratio
	if err := next.restoreArchive(archive); err != nil {
		t.Fatal(err)
	}
	if n := next.pagesIn(3 * time.Hour); n != 0 {
		t.Errorf("%d pages of the accepted level after a restart", n)
	}
	next.ratio *= 2
	if took := next.until(time.Hour, pages); took > 15*time.Minute {
		t.Errorf("twice the accepted level paged after %v", took)
	}
}

// TestAcceptInTheMiddle checks that Accept also covers the minute in progress.
func TestAcceptInTheMiddle(t *testing.T) {
	f := newFeed(options{})
	f.every = 5 * time.Second
	f.run(3*day + 10*time.Minute)
	f.at(5, 10*time.Minute+30*time.Second)
	f.accept(f.now.Add(-10*time.Minute), f.now)
	if n := f.pagesIn(time.Hour); n != 0 {
		t.Errorf("%d pages after ×5 was accepted", n)
	}
}

// TestAcceptNothing checks Accept with a period without turns, in the future, and before all
// measurements.
func TestAcceptNothing(t *testing.T) {
	for name, since := range map[string]time.Time{"of the future": monday.Add(90 * day), "of no time": {}} {
		f := newFeed(options{})
		f.run(3 * day)
		f.accept(since, f.now)
		near(t, name+": baseline", f.run(3*time.Hour).view().Baseline.V, 0.2, 0.01)
		if err := testJob(options{}).restoreArchive(f.archive()); err != nil {
			t.Error(name, err)
		}
	}
}

// TestRepeatsOnTheLocalClock checks that a rise at one local time counts as the same after a change of the clocks.
func TestRepeatsOnTheLocalClock(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, zone) } // summer from the 8th on
	for name, earlier := range map[string][]time.Time{
		"three days": {at(6, 10), at(7, 10), at(8, 10)},
		"two weeks":  {at(9, 10).AddDate(0, 0, -14), at(9, 10).AddDate(0, 0, -7)},
	} {
		f := newFeed(options{Location: zone})
		s := &f.series[0][0]
		s.baseline = &baseline{zone: zone}
		s.baseline.level = math.Log(0.2)
		for _, start := range earlier {
			s.baseline.put(entry{number: numberOf(start), mean: float32(math.Log(0.4)), counted: 100 << 1})
		}
		b := block{start: at(9, 10), n: 100, mean: math.Log(0.4)}
		if !s.habit(&b) {
			t.Errorf("%s at 10:00 are no habit on the day after the change of the clocks", name)
		}
	}
}
