package baseline

import (
	"math"
	"testing"
	"time"
)

const quietWeekend = -0.4

// weekShape is the shape of weekdays with a busy evening, and of quiet weekends.
func weekShape(at time.Time) float64 {
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return quietWeekend
	}
	return 0.4 * math.Sin(2*math.Pi*at.Sub(monday).Hours()/24)
}

// TestShapeOfTheWeek checks that each time of day has its shape from the first week on, weekends
// have their own after some weeks, and neither Mondays nor Saturdays page. The zone of the week is
// that of the target.
func TestShapeOfTheWeek(t *testing.T) {
	zone := time.FixedZone("far west", -8*3600)
	for _, weeks := range []time.Duration{1, 4} {
		f := newFeed(options{Location: zone})
		f.every, f.shape = time.Minute, func(at time.Time) float64 { return weekShape(at.In(zone)) }
		f.run(weeks * 7 * day)
		for _, in := range []time.Duration{6 * time.Hour, 18 * time.Hour, 5*day + 12*time.Hour} {
			at := f.now.Add(in)
			if weeks == 1 && weekShape(at.In(zone)) == quietWeekend {
				continue // one quiet weekend may be chance
			}
			usual := f.series[0][0].baseline.at(at)
			near(t, at.Format("Mon 15:04")+" after weeks", usual, math.Log(0.2)+f.shape(at), 0.12)
		}
		if n := f.pagesIn(7 * day); n != 0 {
			t.Errorf("after %d weeks the next one has %d pages", weeks, n)
		}
		if weeks > 1 { // the level of weekends is lower but not less steady
			saturday := monday.Add(5*day + 20*time.Hour)
			near(t, "how wide Saturdays are", f.series[0][0].baseline.wideAt(saturday), 1, 0.5)
		}
	}
}

// TestQuietDays checks that the days after a quiet week or a holiday do not page.
func TestQuietDays(t *testing.T) {
	for name, quiet := range map[string]time.Duration{"a quiet week": 7 * day, "a holiday": day} {
		f := newFeed(options{})
		f.every, f.wander = time.Minute, 0.03
		f.run(14 * day)
		n := f.at(0.78, 0).pagesIn(quiet)
		f.ratio = 1
		if n += f.pagesIn(5 * day); n != 0 {
			t.Errorf("%s: %d pages", name, n)
		}
		near(t, name+": baseline in the end", f.view().Baseline.V, 0.2, 0.012)
	}
}

// TestNoNoiseAtAll checks that every change of a constant signal is detected.
func TestNoNoiseAtAll(t *testing.T) {
	f := newFeed(options{})
	f.every, f.spread = time.Minute, 0
	f.run(4 * day)
	near(t, "detectable in an hour", f.view().Detectable[1].V, 1.5, 0.1)
	f.ratio = 1.3
	if took := f.until(time.Hour, tickets); took > 30*time.Minute {
		t.Errorf("×1.3 is a ticket after %v", took)
	}
}
