package baseline

import (
	"math"
	"testing"
	"time"
)

// TestTimeToPage checks that twice the baseline pages within minutes, and a smaller rise after
// PageFor.
func TestTimeToPage(t *testing.T) {
	learned := func() *feed { f := newFeed(options{}); f.wander = 0.03; return f.run(8 * day) }
	for ratio, within := range map[float64][2]time.Duration{
		5:   {time.Minute, 4 * time.Minute},
		3:   {time.Minute, 4 * time.Minute},
		2:   {time.Minute, 10 * time.Minute},
		1.6: {5 * time.Minute, 25 * time.Minute},
	} {
		f := learned()
		f.ratio = ratio
		if took := f.until(2*time.Hour, pages); took < within[0] || took > within[1] {
			t.Errorf("×%v paged after %v, want %v", ratio, took, within)
		}
		v := f.view()
		if since := f.now.Sub(v.Since); since < 0 || since > within[1]+3*time.Minute {
			t.Errorf("×%v is said to have begun %v ago", ratio, since)
		}
		f.ratio = 1
		if took := f.until(2*time.Hour, func(v View) bool { return v.Page < 1 }); took > 12*time.Minute {
			t.Errorf("×%v was over, and its page %v later", ratio, took)
		}
		if n := f.pagesIn(6 * time.Hour); n != 0 {
			t.Errorf("×%v: %d more pages after its end", ratio, n)
		}
	}
}

// TestTicket checks that a smaller rise is a ticket for two hours, and a new ticket only if it
// rises further.
func TestTicket(t *testing.T) {
	f := newFeed(options{})
	f.wander = 0.02
	f.run(5 * day)
	f.ratio, f.every = 1.25, 2*time.Second
	if took := f.until(2*time.Hour, tickets); took > time.Hour || pages(f.view()) {
		t.Fatalf("×1.25 for %v: %+v, want a ticket alone", took, f.view())
	}
	up := f.until(4*time.Hour, func(v View) bool { return !tickets(v) })
	if up < 100*time.Minute || up > 2*time.Hour {
		t.Errorf("the ticket stood for %v, want two hours", up)
	}
	if again := f.until(8*time.Hour, tickets); again < 8*time.Hour {
		t.Errorf("the same level is a ticket again after %v", again)
	}
	f.ratio = 1.7
	f.until(2*time.Hour, tickets)
	if !tickets(f.view()) && !pages(f.view()) {
		t.Errorf("more than the known level is neither: %+v", f.view())
	}
}

// TestLeastDifference checks that a rise with a large ratio but a small difference is only a
// ticket.
func TestLeastDifference(t *testing.T) {
	f := newFeed(options{})
	f.usual = 10 * time.Millisecond
	f.run(8 * day)
	f.ratio = 2.5
	if took := f.until(time.Hour, pages); took < time.Hour {
		t.Errorf("15 ms more paged after %v", took)
	}
	if !tickets(f.view()) {
		t.Errorf("15 ms more are no ticket: %+v", f.view())
	}
	f.ratio = 10
	if took := f.until(time.Hour, pages); took > 15*time.Minute {
		t.Errorf("90 ms more paged after %v", took)
	}
}

// TestYoung checks that only large steps page before there is a full baseline.
func TestYoung(t *testing.T) {
	f := newFeed(options{})
	if v := f.run(2 * time.Hour).view(); !v.Young || v.Baseline.OK {
		t.Errorf("after two hours: %+v, want nothing to compare with", v)
	}
	f.run(4 * time.Hour)
	if n := f.at(1.8, 2*time.Hour); pages(n.view()) {
		t.Errorf("×1.8 pages while young: %+v", n.view())
	}
	f.at(1, 4*time.Hour)
	f.ratio = 4
	if took := f.until(time.Hour, pages); took > 10*time.Minute || !f.view().Young {
		t.Errorf("×4 paged after %v while young: %+v", took, f.view())
	}
}

// TestOneIncidentOnePage checks that an incident pages once, although the long windows still
// contain it after its end.
func TestOneIncidentOnePage(t *testing.T) {
	f := newFeed(options{})
	f.wander = 0.03
	f.run(5 * day)
	f.ratio = 3
	n := f.pagesIn(40 * time.Minute)
	f.ratio = 1
	if n += f.pagesIn(6 * time.Hour); n != 1 {
		t.Errorf("forty minutes of ×3 are %d pages", n)
	}
}

// TestTailIsTold checks that a share of slow turns that had a ticket for two hours gets no
// further ticket while it stays, and another one if it grows.
func TestTailIsTold(t *testing.T) {
	f := newFeed(options{})
	f.every = 2 * time.Second
	f.run(3 * day)
	n, nth := 0, 18
	f.shape = func(time.Time) float64 {
		if n++; n%nth == 0 {
			return math.Log(6)
		}
		return 0
	}
	if took := f.until(2*time.Hour, tickets); took > time.Hour {
		t.Fatalf("a turn in %d at six times the usual for %v: %+v", nth, took, f.view())
	}
	if up := f.until(4*time.Hour, func(v View) bool { return !tickets(v) }); up < 100*time.Minute || up > 2*time.Hour {
		t.Errorf("the ticket stood for %v, want two hours", up)
	}
	if again := f.until(4*time.Hour, tickets); again < 4*time.Hour {
		t.Errorf("the same share is a ticket again after %v", again)
	}
	nth = 5
	if f.until(time.Hour, func(v View) bool { return tickets(v) || pages(v) }) == time.Hour {
		t.Errorf("three times the share is neither: %+v", f.view())
	}
}

// TestToldAcrossARestart checks that the next process knows which minutes were reported, and the start of
// the ticket.
func TestToldAcrossARestart(t *testing.T) {
	f := newFeed(options{})
	f.run(3 * day)
	f.every = 2 * time.Second
	f.at(3, 20*time.Minute).at(1, 10*time.Minute)
	f.ticketSince = f.minute
	s := &f.series[0][0]
	if s.ignoredUntil == 0 {
		t.Fatalf("after a page no minute counts as reported, now %d", s.minute)
	}
	j := testJob(options{})
	j.restore(f.state(f.now), f.now)
	if r := &j.series[0][0]; r.ignoredUntil != s.ignoredUntil || j.ticketSince != f.ticketSince {
		t.Errorf("restored: ignoredUntil to %d, asked since %d", r.ignoredUntil, j.ticketSince)
	}
}
