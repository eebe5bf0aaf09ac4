package watch

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// TestTimeToPage checks how soon a rise pages, what is said of its begin, that the page ends with it, and that it pages
// once.
func TestTimeToPage(t *testing.T) {
	for ratio, within := range map[float64][2]time.Duration{
		5:   {time.Minute, 3 * time.Minute},
		3:   {time.Minute, 4 * time.Minute},
		2:   {time.Minute, 8 * time.Minute},
		1.7: {5 * time.Minute, 20 * time.Minute},
	} {
		for signal := range signalCount {
			f := learned(8, 5*time.Second)
			f.ratio[signal] = ratio
			if took := f.until(signal, 2*time.Hour, pages); took < within[0] || took > within[1] {
				t.Errorf("signal %d, ×%v paged after %v, want %v", signal, ratio, took, within)
			}
			if ago := f.now.Sub(f.view(signal).Since); ago < 0 || ago > within[1]+3*time.Minute {
				t.Errorf("signal %d, ×%v is said to have begun %v ago", signal, ratio, ago)
			}
			if begun, _ := f.count(signal, 40*time.Minute); begun != 0 {
				t.Errorf("signal %d, ×%v pages %d times more", signal, ratio, begun)
			}
			f.ratio[signal] = 1
			if took := f.until(signal, 2*time.Hour, func(v View) bool { return !pages(v) }); took > 12*time.Minute {
				t.Errorf("signal %d, ×%v was over, and its page %v later", signal, ratio, took)
			}
			if begun, _ := f.count(signal, 6*time.Hour); begun != 0 {
				t.Errorf("signal %d, ×%v: %d more pages after its end", signal, ratio, begun)
			}
		}
	}
}

// TestFirstWeek checks that three times the usual pages within four minutes from the third hour on, and that no level
// does in the first week: the level of the usual morning here.
func TestFirstWeek(t *testing.T) {
	for _, after := range []time.Duration{3*time.Hour + 10*time.Minute, 9 * time.Hour, 30 * time.Hour, 100 * time.Hour} {
		f := newFeed(nil)
		f.every = 5 * time.Second
		if begun, _ := f.count(0, after); begun != 0 {
			t.Errorf("%d pages in the first %v", begun, after)
		}
		f.ratio[0] = 3
		if took := f.until(0, time.Hour, pages); took > 4*time.Minute {
			t.Errorf("after %v, ×3 paged after %v", after, took)
		}
	}
	f := newFeed(nil)
	f.shape = func(at time.Time) float64 { // twice the usual from 7 to 19 o'clock, within half an hour
		h := at.Sub(at.Truncate(day)).Hours()
		return math.Ln2 * min(1, max(0, 2*(h-7)), max(0, 2*(19-h)))
	}
	if begun, _ := f.count(0, 7*day); begun != 0 || !f.ttft().OnlySteps {
		t.Errorf("%d pages of the mornings of the first week: %+v", begun, f.ttft())
	}
	week := f.ttft().Next
	if f.run(time.Hour); f.ttft().OnlySteps || !f.ttft().Next.IsZero() || week.After(f.now) || week.Before(f.now.Add(-90*time.Minute)) {
		t.Errorf("after the first week only steps page; levels were to page from %v on", week)
	}
}

// TestYoung checks that nothing is compared in the first hours, and that a step to less than 2.3 times does not page then.
func TestYoung(t *testing.T) {
	f := newFeed(nil)
	if v := f.run(2 * time.Hour).ttft(); !v.Learning || f.reading().Usual[1][0].OK {
		t.Errorf("after two hours: %+v, want nothing to compare with", v)
	} else if want := monday.Add(3 * time.Hour); !v.Next.Equal(want) {
		t.Errorf("steps are to page from %v on, want %v", v.Next, want)
	}
	f.run(4 * time.Hour)
	if v := f.at(1.8, 2*time.Hour).ttft(); v.Learning || pages(v) {
		t.Errorf("×1.8 in the first hours: %+v", v)
	}
}

// TestTicket checks that a smaller rise is a ticket for at most two hours, and that neither it nor a page comes again
// before it rises further.
func TestTicket(t *testing.T) {
	for _, tt := range []struct {
		signal int
		ratio  float64
	}{{0, 1.35}, {1, 1.3}} {
		f := learned(8, 5*time.Second)
		f.wander, f.ratio[tt.signal] = 0, tt.ratio
		if took := f.until(tt.signal, 2*time.Hour, tickets); took > time.Hour || pages(f.view(tt.signal)) {
			t.Fatalf("signal %d, ×%v for %v: %+v, want a ticket alone", tt.signal, tt.ratio, took, f.view(tt.signal))
		}
		if up := f.until(tt.signal, 4*time.Hour, over); up < 30*time.Minute || up > 2*time.Hour {
			t.Errorf("signal %d: the ticket stood for %v, want at most two hours", tt.signal, up)
		}
		if begun, opened := f.count(tt.signal, 8*time.Hour); begun+opened != 0 {
			t.Errorf("signal %d: the same level is %d pages and %d tickets more", tt.signal, begun, opened)
		}
		f.ratio[tt.signal] *= 1.8
		if took := f.until(tt.signal, time.Hour, pages); took > 20*time.Minute {
			t.Errorf("signal %d: much more than the known level paged after %v", tt.signal, took)
		}
	}
}

// TestLeastDifference checks that a rise with a large ratio but a small difference is only a ticket.
func TestLeastDifference(t *testing.T) {
	f := newFeed(nil)
	f.edit = func(r *probe.Result) { r.TTFT.V /= 20 } // 10 ms
	f.run(8 * day)
	f.ratio[0] = 2.5
	opened := false
	if took := f.until(0, time.Hour, func(v View) bool { opened = opened || tickets(v); return pages(v) }); took < time.Hour {
		t.Errorf("15 ms more paged after %v", took)
	}
	if !opened {
		t.Errorf("15 ms more are no ticket: %+v", f.ttft())
	}
	f.ratio[0] = 15
	if took := f.until(0, time.Hour, pages); took > 15*time.Minute {
		t.Errorf("140 ms more paged after %v", took)
	}
}

// TestPartOfTheTurns checks that a rise of a small share of the turns does not page.
func TestPartOfTheTurns(t *testing.T) {
	for _, ratio := range []float64{2, 4} {
		f := learned(8, 5*time.Second)
		f.ratio, f.share = [...]float64{ratio, ratio}, 0.15
		for signal := range signalCount {
			if begun, _ := f.copy().count(signal, 6*time.Hour); begun != 0 {
				t.Errorf("×%v of 15 %% of the turns pages %d times", ratio, begun)
			}
		}
		f.share = 0.9
		if took := f.until(0, time.Hour, pages); took > 10*time.Minute {
			t.Errorf("×%v of 90 %% of the turns paged after %v", ratio, took)
		}
	}
}

// TestMixOfSizes checks that a changing mix of two prompt sizes neither pages nor opens a ticket, and that a slower
// deployment pages while it changes.
func TestMixOfSizes(t *testing.T) {
	f := newFeed(nil)
	large := 0.5
	f.edit = func(r *probe.Result) {
		if f.rng.Float64() < large {
			r.PromptTokens.V, r.TTFT.V, r.TPOT.V = 20_000, 5*r.TTFT.V, 2*r.TPOT.V
		}
	}
	f.run(8 * day)
	for i, share := range []float64{0.1, 0.9, 0.3, 1, 0} {
		large = share
		for signal := range signalCount {
			if begun, opened := f.copy().count(signal, 4*time.Hour); begun+opened != 0 {
				t.Errorf("mix %d: %d pages and %d tickets of signal %d", i, begun, opened, signal)
			}
		}
		f.run(4 * time.Hour)
	}
	f.ratio[0] = 3
	if took := f.until(0, time.Hour, pages); took > 6*time.Minute {
		t.Errorf("×3 pages after %v", took)
	}
}

// TestNewSizeIsNotLearnedFromAFault checks that deadlines, turns of a change window and of bursts teach no new size.
func TestNewSizeIsNotLearnedFromAFault(t *testing.T) {
	var s signal
	s.policy = fleet.DefaultPolicy()
	class := classOf(0, 1e6)
	for range 40 {
		for _, bad := range []turn{{failed: true}, {change: true}, {burst: true}} {
			bad.ln, bad.class = math.Log(30), class
			s.observe(bad, monday)
		}
	}
	if s.Classes.known(class) {
		t.Errorf("a new size was learned: %+v", s.Classes[class])
	}
	for range few {
		s.observe(turn{ln: math.Log(30), class: class}, monday)
	}
	if !s.Classes.known(class) {
		t.Error("good turns teach no size")
	}
}

// TestHangsPage checks that hanging turns page and are not learned, that immediate errors do not affect latency, and that
// moments never fall.
func TestHangsPage(t *testing.T) {
	f := learned(8, 15*time.Second)
	before, usual := f.reading(), f.usual()
	fail := func(o probe.Outcome) {
		f.edit = func(r *probe.Result) {
			r.Outcome, r.TTFT.OK, r.TPOT.OK, r.End = o, false, false, r.Sent.Add(30*time.Second)
		}
	}
	fail(probe.HTTP5xx)
	if r := f.run(time.Hour).reading(); either(r.Signals[0]) || r.Moments != before.Moments || r.Failures != 240 || r.Failing < 59*time.Minute {
		t.Errorf("an hour of errors: %+v", r)
	}
	fail(probe.TimeoutFirstToken)
	if took := f.until(0, time.Hour, pages); took > 4*time.Minute {
		t.Errorf("hangs page after %v", took)
	}
	after := f.reading()
	near(t, "log2 of a timeout", (after.Moments[0][0].Log2-before.Moments[0][0].Log2)/(after.Moments[0][0].Turns-before.Moments[0][0].Turns), math.Log2(30e6), 1e-6)
	f.run(2 * time.Hour)
	near(t, "usual", f.usual(), usual, 0.003)
}

// TestUsual checks what is usual after two days, and the usual cached share, which a fault of the cache does not teach.
func TestUsual(t *testing.T) {
	f := newFeed(nil)
	f.run(2*day + time.Hour)
	near(t, "usual TTFT", f.usual(), 0.2, 0.01)
	near(t, "usual TPOT", f.reading().Usual[0][1].V, 0.02, 0.001)
	near(t, "usual cached share", f.reading().UsualCached[1].V, 0.5, 1e-6)
	f.edit = func(r *probe.Result) { r.CachedTokens.V = 5 }
	f.run(4 * day)
	near(t, "usual cached share after days without hits", f.reading().UsualCached[1].V, 0.5, 1e-3)
	if v := f.ttft(); v.Learning || !v.Detectable.OK || v.Detectable.V < 1.4 || v.Detectable.V > 3 {
		t.Errorf("detectable after days: %+v", v)
	}
}
