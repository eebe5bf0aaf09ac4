package baseline

import (
	"synthetic/internal/sidecar/sink"
	"testing"
	"time"
)

func TestChangeCovers(t *testing.T) {
	once := sink.Change{From: monday.Add(time.Hour), To: monday.Add(3 * time.Hour)}
	weekly := once
	weekly.Weekly = true
	for _, tt := range []struct {
		after        time.Duration
		once, weekly bool
	}{
		{0, false, false},
		{time.Hour, true, true},
		{3*time.Hour - 1, true, true},
		{3 * time.Hour, false, false},
		{week, false, false},
		{week + time.Hour, false, true},
		{52*week + 2*time.Hour, false, true},
		{52*week + 3*time.Hour, false, false},
		{-week + 2*time.Hour, false, false},
	} {
		at := monday.Add(tt.after)
		if got := once.Covers(at); got != tt.once {
			t.Errorf("after %v: covered %v, want %v", tt.after, got, tt.once)
		}
		if got := weekly.Covers(at); got != tt.weekly {
			t.Errorf("after %v, weekly: covered %v, want %v", tt.after, got, tt.weekly)
		}
	}
}

// TestWeeklyWindow checks that turns in a weekly change window are not learned, and that the
// window discards no baseline.
func TestWeeklyWindow(t *testing.T) {
	f := newFeed(options{})
	f.configure(options{Changes: []sink.Change{{From: f.now.Add(-2 * week), To: f.now.Add(-2*week + 6*time.Hour), Weekly: true}}})
	if v := f.run(6*time.Hour - time.Minute).view(); v.Samples != 0 {
		t.Errorf("%v turns of the weekly window entered the baseline", v.Samples)
	}
	if v := f.run(2 * day).view(); v.Samples == 0 || v.Young {
		t.Errorf("two days later the baseline stands on %v turns, young: %v", v.Samples, v.Young)
	}
}

// TestChangeWhileDown checks that a window with Relearn that ends while no process runs
// discards the baseline at the next start, and only once.
func TestChangeWhileDown(t *testing.T) {
	f := newFeed(options{})
	f.run(2 * day)
	state, history := f.state(f.now), f.archive()
	end := f.now.Add(time.Hour)
	options := options{Changes: []sink.Change{{From: f.now, To: end, Relearn: true}}}

	f.now = end.Add(time.Hour)
	f.restart(t, options, state, history)
	f.run(time.Minute)
	if v := f.view(); !v.Young || v.Samples != 0 {
		t.Errorf("after the window the old baseline stands, on %v turns", v.Samples)
	}

	f.run(2 * day)
	state, history = f.state(f.now), f.archive()
	f.restart(t, options, state, history)
	f.run(time.Minute)
	if f.view().Young {
		t.Error("the next restart forgot what was learned since the window")
	}
}

// restart replaces the job by one that restores the saved state, as a new process does.
func (f *feed) restart(t *testing.T, o options, state JobState, history []byte) {
	t.Helper()
	f.job = testJob(o)
	if err := f.restoreArchive(history); err != nil {
		t.Fatal(err)
	}
	f.restore(state, f.now)
}

// TestChangeWindow checks that turns in a change window are not learned, however long it is,
// and that Relearn discards the earlier baseline.
func TestChangeWindow(t *testing.T) {
	f := newFeed(options{})
	f.run(2 * day)
	before := f.view()
	f.configure(options{Changes: []sink.Change{{From: f.now, To: f.now.Add(5 * day), Relearn: true}}})
	v := f.at(1.4, 5*day-time.Minute).view()
	if v.Samples > before.Samples+200 || !v.Moved.IsZero() {
		t.Errorf("%v turns of a change window entered the baseline: %+v", v.Samples-before.Samples, v)
	}
	near(t, "baseline", v.Baseline.V/before.Baseline.V, 1, 0.02)
	f.at(2, 2*time.Minute)
	if !f.view().Young {
		t.Error("the baseline was not started anew after the change")
	}
	v = f.run(2 * day).view()
	near(t, "relearned baseline", v.Baseline.V, 0.4, 0.01)
	if pages(v) || tickets(v) {
		t.Errorf("what was learned anew is a regression: %+v", v)
	}
}

const week = 7 * 24 * time.Hour
