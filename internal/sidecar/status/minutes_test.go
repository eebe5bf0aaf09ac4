package status

import (
	"math"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/watch"
)

// TestMinutes checks that each minute has the figures of its turns, by kind, and what was usual
// and the limit at that time.
func TestMinutes(t *testing.T) {
	p := newPage(Options{Now: func() time.Time { return noon }, Baseline: func(probe.Key) (r watch.Reading, ok bool) {
		r.Usual[1][0], r.Signals[0].Limit = probe.Some(0.125), probe.Some(3.)
		return r, true
	}})
	feed(p,
		turn(150*time.Second, ttft(time.Second)), turn(140*time.Second, ttft(3*time.Second)), turn(130*time.Second, first),
		turn(90*time.Second, failing(probe.HTTP5xx, "x")), turn(30*time.Second),
	)
	got := p.jobs[key("t", "w")].minutesUntil(noon)
	if len(got) != 3 || got[0].at != minuteOf(noon)-3 {
		t.Fatalf("%d minutes, want 3: %+v", len(got), got)
	}
	followups := got[0].kinds[1]
	if followups.turns != 2 || followups.signals[0] != (level{1, 3, 0.125, 0.375}) || !math.IsNaN(float64(followups.signals[1].usual)) || got[0].kinds[0].turns != 1 {
		t.Errorf("the first minute is %+v", got[0])
	}
	if failed := got[1].kinds[1]; failed.failed != 1 || !math.IsNaN(float64(failed.signals[0].p50)) {
		t.Errorf("the second is %+v", got[1])
	}
}

// TestCrowdedMinute checks that all turns and failures of a minute count, even if it has more
// turns than samples are kept.
func TestCrowdedMinute(t *testing.T) {
	p := pageAt(noon)
	for i := range 2 * samplesKept {
		if i < 100 {
			feed(p, turn(90*time.Second, failing(probe.HTTP5xx, "x")))
			continue
		}
		feed(p, turn(70*time.Second))
	}
	feed(p, turn(0))
	got := p.jobs[key("t", "w")].minutesUntil(noon)[0].kinds[1]
	if got.turns != 2*samplesKept || got.failed != 100 {
		t.Errorf("%d turns of which %d failed, want %d and 100", got.turns, got.failed, 2*samplesKept)
	}
}

// TestInterrupted checks that no line crosses a period without turns, neither of latencies nor
// of failures.
func TestInterrupted(t *testing.T) {
	minutes := []minute{{at: 100}, {at: 101}, {at: 200}}
	for i := range minutes {
		minutes[i].kinds[0] = minuteKind{turns: 2, failed: 1, signals: [2]level{{p50: 1, p95: 1}}}
	}
	for _, s := range append(latencies(minutes, 0, 0), failures(minutes)) {
		if n := len(s.Points); n != 4 || !math.IsNaN(s.Points[2].Y) || s.Points[2].X != 102*60 {
			t.Errorf("%s: %+v", s.Name, s.Points)
		}
	}
}

// TestClockSetBack checks that turns after the step are shown at once, and that later minutes
// are dropped.
func TestClockSetBack(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(2*time.Hour), turn(-24*time.Hour), turn(-25*time.Hour), turn(5*time.Minute), turn(3*time.Minute), turn(0))
	var got []int32
	for _, m := range p.jobs[key("t", "w")].minutesUntil(noon) {
		got = append(got, m.at-minuteOf(noon))
	}
	if want := []int32{-120, -5, -3, 0}; !slices.Equal(got, want) {
		t.Errorf("the minutes are %v, want %v", got, want)
	}
}

// TestMinutesKept checks that a page keeps three hours of minutes.
func TestMinutesKept(t *testing.T) {
	p := pageAt(noon)
	for ago := minutesKept + 30; ago >= 0; ago-- {
		feed(p, turn(time.Duration(ago)*time.Minute))
	}
	got := p.jobs[key("t", "w")].minutesUntil(noon)
	if len(got) != minutesKept || got[0].at != minuteOf(noon)-minutesKept+1 || got[minutesKept-1].kinds[1].turns != 1 {
		t.Errorf("%d minutes from %d on", len(got), got[0].at-minuteOf(noon))
	}
	if got := p.jobs[key("t", "w")].minutesUntil(noon.Add(minutesKept * time.Minute)); len(got) != 0 {
		t.Errorf("after three hours without a turn there are %d minutes", len(got))
	}
}
