package watch

import (
	"fmt"
	"math"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestRestartChangesNoDecision gives two processes the same turns, of which one restarts. Both page and open tickets in the
// same minutes from then on, apart from single minutes of doubt.
func TestRestartChangesNoDecision(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after float64 // the ratio before and after the restart
		for_          time.Duration
		want          func(View) bool
	}{
		"while nothing is up":       {1, 3, 40 * time.Minute, over},
		"while a page is up":        {2.5, 2.5, 20 * time.Minute, pages},
		"at the end of a rise":      {2.5, 1, 20 * time.Minute, pages},
		"while a level is told":     {1.6, 1.6, 150 * time.Minute, over},
		"and that level rises":      {1.6, 3.5, 150 * time.Minute, over},
		"while a ticket is up":      {1.35, 1.35, 40 * time.Minute, tickets},
		"in the minutes of a rise":  {2, 2, 2 * time.Minute, nil},
		"while a level is accepted": {1.6, 2.5, 0, over},
	} {
		steady := learned(8, 5*time.Second)
		steady.at(tt.before, tt.for_)
		if tt.for_ == 0 {
			steady.at(tt.before, 40*time.Minute).Accept("a", "", time.Time{})
			steady.run(time.Hour)
		}
		compare(t, name, steady, tt.after, tt.want)
	}
	cleared := learned(8, 5*time.Second)
	cleared.at(2.5, 30*time.Minute).at(1, 10*time.Minute)
	compare(t, "after a page cleared its minutes", cleared, 1, over)
}

func compare(t *testing.T, name string, steady *feed, ratio float64, want func(View) bool) {
	t.Helper()
	if want != nil && !want(steady.ttft()) {
		t.Errorf("%s: %+v", name, steady.ttft())
	}
	_ = steady.ttft() // closes the last minute
	moved := steady.copy()
	steady.ratio[0], moved.ratio[0] = ratio, ratio
	differ := ""
	minutes := 0
	for range 180 {
		a, b := steady.run(time.Minute).ttft(), moved.run(time.Minute).ttft()
		if pages(a) != pages(b) || tickets(a) != tickets(b) {
			minutes++
			differ += fmt.Sprintf("%s: page %.2f and %.2f, ticket %.2f and %.2f\n", steady.now.Format("15:04"), a.Page, b.Page, a.Ticket, b.Ticket)
		}
	}
	if minutes > 0 {
		t.Errorf("%s: a restart changes the decisions of %d minutes:\n%s", name, minutes, differ)
	}
}

// TestRestartLater checks that a page survives an hour without a process, and no longer, and what pages then. What is
// usual survives both.
func TestRestartLater(t *testing.T) {
	ill := learned(8, 5*time.Second)
	if v := ill.at(3, 10*time.Minute).ttft(); !pages(v) {
		t.Fatalf("no regression to save: %+v", v)
	}
	usual := ill.usual()
	for down, want := range map[time.Duration]bool{time.Minute: true, 10 * time.Minute: true, time.Hour + time.Second: false, 2 * time.Hour: false} {
		f := ill.copy().restart(down)
		if pages(f.ttft()) != want {
			t.Errorf("after %v the page stands: %v", down, !want)
		}
		near(t, "usual", f.usual(), usual, 0.005)
		if v := f.run(5 * time.Minute).ttft(); !pages(v) {
			t.Errorf("after %v and five minutes at ×3: %+v", down, v)
		}
		well := ill.copy().restart(down).at(1, 20*time.Minute)
		if v := well.ttft(); pages(v) {
			t.Errorf("after %v and twenty minutes without a slow turn: %+v", down, v)
		}
		if begun, _ := well.count(0, 3*time.Hour); begun != 0 {
			t.Errorf("after %v: %d pages of what was over", down, begun)
		}
	}
}

// TestClockSetBackWhileItPages: a page survives a restart at which the clock is set back, pages no second time, and ends
// when the fault does.
func TestClockSetBackWhileItPages(t *testing.T) {
	ill := learned(8, 5*time.Second)
	ill.at(3, 30*time.Minute)
	for _, back := range []time.Duration{time.Second, 10 * time.Minute, time.Hour} {
		f := ill.copy().restart(-back)
		if !pages(f.ttft()) {
			t.Errorf("%v: a restart ends the page: %+v", back, f.ttft())
		}
		if begun, _ := f.count(0, 20*time.Minute); begun != 0 || !pages(f.ttft()) {
			t.Errorf("%v: %d more pages, and now %+v", back, begun, f.ttft())
		}
		if took := f.at(1, 0).until(0, time.Hour, over); took > 20*time.Minute {
			t.Errorf("%v: the page ends after %v", back, took)
		}
	}
}

// TestRestoredWithoutHistory checks that a restored page ends if there is no history.
func TestRestoredWithoutHistory(t *testing.T) {
	f := learned(8, 15*time.Second)
	f.at(3, 10*time.Minute)
	state := f.States()
	f.start()
	f.Restore(state, nil)
	if !pages(f.ttft()) {
		t.Fatal("the page is not restored")
	}
	if v := f.at(1, 5*time.Hour).ttft(); pages(v) || v.Learning {
		t.Errorf("hours later: %+v", v)
	}
}

// minutesOf returns the minutes that a Prometheus would have recorded of a feed.
func minutesOf(f *feed, d time.Duration) (out []Minute) {
	last := f.reading().Moments
	for end := f.now.Add(d); f.now.Before(end); {
		r := f.run(time.Minute).reading()
		m := Minute{At: f.now.Add(-30 * time.Second)}
		for k := range kinds {
			now, before := r.Moments[k][0], last[k][0]
			m.Turns[k] = now.Turns - before.Turns
			m.Mean[k] = (now.Log2-before.Log2)/max(1, m.Turns[k])*math.Ln2 - math.Log(1e6)
		}
		out = append(out, m)
		last = r.Moments
	}
	return out
}

// TestBackfill checks that a job that was given the minutes of another one decides as that one does, and that a fault at
// their end is up at the start.
func TestBackfill(t *testing.T) {
	unsized := func(r *probe.Result) { r.PromptTokens.OK = false } // the minutes say no sizes
	f := newFeed(nil)
	f.edit, f.wander = unsized, 0.05
	f.shape = func(at time.Time) float64 { return 0.3 * math.Sin(2*math.Pi*at.Sub(monday).Hours()/24) }
	minutes := minutesOf(f, 8*day)
	next := *f
	next.seed(3)
	next.start()
	next.Backfill(f.key(), 0, minutes)
	next.Backfill(probe.Key{Target: "none"}, 0, minutes)
	a, b := f.run(10*time.Minute).ttft(), next.run(10*time.Minute).ttft()
	if b.Learning || b.OnlySteps || either(b) {
		t.Errorf("after it: %+v", b)
	}
	near(t, "usual", next.usual()/f.usual(), 1, 0.03)
	near(t, "detectable", b.Detectable.V/a.Detectable.V, 1, 0.3)
	if begun, _ := next.count(0, 6*time.Hour); begun != 0 {
		t.Errorf("%d pages in the hours after it", begun)
	}
	f.ratio[0] = 3
	ill := *f
	ill.start()
	ill.Backfill(f.key(), 0, append(minutes, minutesOf(f, 4*time.Hour)...))
	ill.now = f.now
	if v := ill.run(5 * time.Minute).ttft(); !pages(v) {
		t.Errorf("four hours at ×3 are no page: %+v", v)
	}
	near(t, "usual after a fault", ill.usual()/f.usual(), 1, 0.02)
}

// TestPauseInTheFirstWeek: after hours without turns nothing is known of the quarter of an hour before, and a large rise
// still pages.
func TestPauseInTheFirstWeek(t *testing.T) {
	for _, days := range []int{2, 4, 6} {
		f := newFeed(nil).run(time.Duration(days) * day).restart(3 * time.Hour)
		f.ratio = [...]float64{5, 5}
		if took := f.until(0, time.Hour, pages); took > 5*time.Minute {
			t.Errorf("after %d days: ×5 pages after %v", days, took)
		}
	}
}
