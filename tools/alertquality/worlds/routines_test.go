package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// all returns every built-in model.
func all() []Model { return slices.Concat(Models(), Routines(), Sealed()) }

// meanAt returns the mean of a track at the steps whose time, in UTC, is chosen.
func (f figures) meanAt(track []float32, at func(utc time.Time) bool) float64 {
	sum, n := 0.0, 0.0
	for i, v := range track {
		if at(f.c.start.UTC().Add(time.Duration(i) * courseStep)) {
			sum, n = sum+float64(v), n+1
		}
	}
	return sum / n
}

// within returns whether a time lies in some hours, on days that on accepts.
func within(from, to float64, on chosen) func(time.Time) bool {
	return func(t time.Time) bool {
		h := float64(t.Hour()) + float64(t.Minute())/60
		return h >= from && h < to && on(t.Truncate(day))
	}
}

// TestOfficeHours compares the level in working hours, at night and on a day off with the
// descriptions. The hours are in UTC, so that they check the time zones.
func TestOfficeHours(t *testing.T) {
	for world, want := range map[string]struct {
		peak        float64
		from, to    float64 // in working hours
		night       float64 // the start of a quiet hour
		works, free time.Weekday
	}{
		"office-utc":   {1.4, 10.5, 11.5, 2, time.Friday, time.Saturday},
		"us-west":      {1.4, 18.5, 19.5, 10, time.Friday, time.Sunday},
		"kolkata":      {1.5, 6, 6.5, 20, time.Monday, time.Sunday},
		"riyadh":       {1.4, 6.5, 8.5, 22, time.Sunday, time.Friday},
		"first-week-1": {1.3, 10.5, 11.5, 2, time.Friday, time.Saturday},
		"first-week-2": {1.6, 8.5, 10, 1, time.Friday, time.Saturday},
		"first-week-3": {2, 20, 22, 10, time.Friday, time.Saturday},
		"first-week-4": {2.5, 9, 12, 20, time.Saturday, time.Sunday},
		"first-week-5": {3, 3.5, 5.5, 17, time.Friday, time.Saturday},
		"first-week-6": {1.8, 19, 23, 8, time.Friday, time.Saturday},

		"sealed-office-utc":   {1.6, 10, 11.5, 1, time.Friday, time.Saturday},
		"sealed-us":           {1.5, 20, 22, 8, time.Friday, time.Saturday},
		"sealed-kathmandu":    {1.7, 6, 9, 20, time.Sunday, time.Saturday},
		"sealed-cairo":        {1.6, 8.5, 11.5, 22, time.Sunday, time.Friday},
		"sealed-first-week-1": {1.5, 11, 12, 1, time.Friday, time.Saturday},
		"sealed-first-week-2": {1.4, 8, 9.3, 1, time.Friday, time.Saturday},
		"sealed-first-week-3": {2.3, 16.5, 18, 10, time.Friday, time.Saturday},
		"sealed-first-week-4": {2.8, 3, 5, 16, time.Friday, time.Saturday},
		"sealed-first-week-5": {1.7, 18, 21, 8, time.Saturday, time.Sunday},
		"sealed-first-week-6": {2.1, 8, 12, 21, time.Sunday, time.Friday},
	} {
		f := figuresOf(t, world, 60*day)
		for what, tt := range map[string]struct {
			at   func(time.Time) bool
			want float64
		}{
			"in working hours": {within(want.from, want.to, on(want.works)), math.Log(want.peak)},
			"on a day off":     {within(want.from, want.to, on(want.free)), 0.1 * math.Log(want.peak)},
			"at night":         {within(want.night, want.night+1, on(want.works)), 0},
		} {
			if got := f.meanAt(f.c.level, tt.at); math.Abs(got-tt.want) > 0.05+0.1*tt.want {
				t.Errorf("%s %s: level %.3f, want %.3f", world, what, got, tt.want)
			}
		}
	}
	for _, world := range []string{"no-weekend", "sealed-no-weekend"} {
		f := figuresOf(t, world, 60*day)
		hours := map[string][2]float64{"no-weekend": {12, 18}, "sealed-no-weekend": {6, 12}}[world]
		every := on(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday)
		work, free := f.meanAt(f.c.level, within(hours[0], hours[1], every)), f.meanAt(f.c.level, within(hours[0], hours[1], on(time.Saturday, time.Sunday)))
		if math.Abs(work-free) > 0.06 || work < 0.25 {
			t.Errorf("%s: level %.3f on working days and %.3f on weekends", world, work, free)
		}
	}
}

// TestClockChange: the load keeps to the local clock when the clocks change, and so moves by an
// hour in UTC.
func TestClockChange(t *testing.T) {
	for world, tt := range map[string]struct {
		change        time.Time
		from          float64 // the half hour before the working hours begin, after or before the change
		before, after float64 // level as part of the peak
	}{
		"dst":        {time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), 7.5, 0.38, 0.8},
		"sealed-dst": {time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 14, 0.85, 0.35},
	} {
		f := figuresOf(t, world, 60*day)
		peak := math.Log(map[string]float64{"dst": 1.5, "sealed-dst": 1.4}[world])
		weekday := on(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday)
		before := f.meanAt(f.c.level, func(at time.Time) bool { return at.Before(tt.change) && within(tt.from, tt.from+0.5, weekday)(at) })
		after := f.meanAt(f.c.level, func(at time.Time) bool { return at.After(tt.change) && within(tt.from, tt.from+0.5, weekday)(at) })
		if math.Abs(before/peak-tt.before) > 0.15 || math.Abs(after/peak-tt.after) > 0.15 {
			t.Errorf("%s: %.2f of the peak before the change and %.2f after it, want %.2f and %.2f", world, before/peak, after/peak, tt.before, tt.after)
		}
	}
}

// TestRoutines compares jobs and operation with their descriptions, over 300 days.
func TestRoutines(t *testing.T) {
	date := func(dates ...string) chosen {
		return func(d time.Time) bool { return slices.Contains(dates, d.Format("01-02")) }
	}
	level := func(at func(time.Time) bool) func(figures) float64 {
		return func(f figures) float64 { return math.Exp(f.meanAt(f.c.level, at)) }
	}
	share := func(track func(*course) []float32) func(figures) float64 {
		return func(f figures) float64 {
			n := 0.
			for _, v := range track(f.c) {
				if v > 0 {
					n++
				}
			}
			return n / float64(len(f.c.level))
		}
	}
	slow, away, flushed := func(c *course) []float32 { return c.slow }, func(c *course) []float32 { return c.away }, func(c *course) []float32 { return c.flushed }
	odd := func(d time.Time) bool { _, w := d.ISOWeek(); return d.Weekday() == time.Friday && w%2 == 1 }
	courses := map[string]figures{}
	for _, tt := range []struct {
		world, what string
		low, high   float64
		of          func(figures) float64
	}{
		{"sunday-job", "on a winter Sunday, 02:10 to 03:50", 1.7, 1.9, level(within(1.2, 2.8, date("01-11", "01-18", "02-01")))},
		{"sunday-job", "on a summer Sunday", 1.7, 1.9, level(within(0.2, 1.8, date("06-07", "06-14", "06-21")))},
		{"sunday-job", "on other days", 0.97, 1.03, level(within(1.2, 2.8, on(time.Monday, time.Saturday)))},
		{"month-end", "on such days, 10:10 to 14:00 in winter", 1.5, 2.1, level(within(15.2, 19, date("01-30", "02-01", "02-27", "03-01")))},
		{"month-end", "on the days before", 0.95, 1.05, level(within(15.2, 19, date("01-29", "01-31", "02-02", "02-26")))},
		{"fortnightly", "on such Fridays", 1.5, 1.8, level(within(14.2, 17, everySecond(time.Friday)))},
		{"fortnightly", "on other Fridays", 0.96, 1.04, level(within(14.2, 17, odd))},
		{"cache-flush", "share of the time", 0.85 * 4 * 12 / 10080, 1.15 * 4 * 12 / 10080, share(flushed)},
		{"long-batches", "share of the time", 0.8 * 4 * 6 / 1440, 1.2 * 4 * 6 / 1440, share(slow)},
		{"failover", "share of the time", 0.7 * 4 * 5 / 720, 1.3 * 4 * 5 / 720, share(away)},

		{"sealed-saturday-job", "on such nights, 23:10 to 01:00 in winter", 1.55, 1.75, level(within(4.2, 5.9, date("01-11", "01-18", "02-01")))},
		{"sealed-month-end", "on such days", 1.5, 2.3, level(within(12.7, 15.4, date("01-30", "02-01", "02-27", "03-01")))},
		{"sealed-fortnightly", "on such Wednesdays in winter", 1.5, 2.1, level(within(8.2, 9.9, date("01-07", "01-21", "02-04", "02-18")))},
		{"sealed-fortnightly", "on other Wednesdays", 0.94, 1.06, level(within(8.2, 9.9, date("01-14", "01-28", "02-11", "02-25")))},
		{"sealed-cache-flush", "share of the time", 0.85 * 3 * 8 / 10080, 1.15 * 3 * 8 / 10080, share(flushed)},
		{"sealed-long-batches", "share of the time", 0.8 * 6 * 5.5 / 1440, 1.2 * 6 * 5.5 / 1440, share(slow)},
		{"sealed-failover", "share of the time", 0.65 * 3 * 7.5 / 720, 1.35 * 3 * 7.5 / 720, share(away)},
	} {
		if _, drawn := courses[tt.world]; !drawn {
			courses[tt.world] = figuresOf(t, tt.world, 300*day)
		}
		if got := tt.of(courses[tt.world]); got < tt.low || got > tt.high {
			t.Errorf("%s: %s %.4f, want %.4f to %.4f", tt.world, tt.what, got, tt.low, tt.high)
		}
	}
}

// TestBadReleases: without other noise, the level is raised in the described share of the time.
func TestBadReleases(t *testing.T) {
	for world, want := range map[string]struct{ size, share float64 }{
		"rollback": {1.25, 2. * 2 / 168}, "sealed-rollback": {1.3, 3. * 1.5 / 168},
	} {
		m := modelOf(t, world)
		m.builtin.effects = m.builtin.effects[1:]
		n := 0.
		c := newCourse(m, 1, epoch(), 300*day)
		for _, v := range c.level {
			if math.Abs(float64(v)-math.Log(want.size)) < 1e-4 {
				n++
			}
		}
		if got := n / float64(len(c.level)); math.Abs(got/want.share-1) > 0.2 {
			t.Errorf("%s: raised in %.4f of the time, want %.4f", world, got, want.share)
		}
	}
}

// TestTurnsOfRoutines: an empty prefix cache delays follow-up turns and uses no cached tokens;
// another region adds a constant time.
func TestTurnsOfRoutines(t *testing.T) {
	turn := func(number int, flushed, away float32) probe.Result {
		m := modelOf(t, "cache-flush")
		m.Sigma, m.Outliers = 0, 0
		tr := &traffic{model: m, rng: rand.New(rand.NewPCG(1, 1)), course: &course{
			level: []float32{0}, slow: []float32{0}, spread: []float32{1}, flushed: []float32{flushed}, away: []float32{away},
		}}
		c := &conversation{turn: number}
		tr.drawAnswer(c, 0.2, 1)
		return c.result
	}
	for name, tt := range map[string]struct {
		got    probe.Result
		ttft   time.Duration
		cached int
	}{
		"calm":                {turn(2, 0, 0), 200 * time.Millisecond, 1200},
		"first turn":          {turn(1, 1, 0), 200 * time.Millisecond, 1200},
		"follow-up turn":      {turn(2, 1, 0), 500 * time.Millisecond, 0},
		"half filled":         {turn(2, 0.5, 0), 350 * time.Millisecond, 600},
		"from another region": {turn(2, 0, 0.08), 280 * time.Millisecond, 1200},
	} {
		if late := tt.got.TTFT.V - tt.ttft; late.Abs() > time.Microsecond || tt.got.CachedTokens.V != tt.cached {
			t.Errorf("%s: TTFT %s and %d cached tokens, want %s and %d", name, tt.got.TTFT.V, tt.got.CachedTokens.V, tt.ttft, tt.cached)
		}
	}
}

// TestSealed: each kind of routine has a sealed model, which cannot be run by accident.
func TestSealed(t *testing.T) {
	if open, sealed := Routines(), Sealed(); len(open) != len(sealed) {
		t.Errorf("%d open routines and %d sealed ones", len(open), len(sealed))
	}
	for _, m := range Sealed() {
		if !m.HeldOut() || !strings.HasPrefix(m.Name, "sealed-") {
			t.Errorf("%s: held out is %v", m.Name, m.HeldOut())
		}
		if _, err := ModelNamed(m.Name); err == nil {
			t.Errorf("%s is chosen by its name alone", m.Name)
		}
	}
}
