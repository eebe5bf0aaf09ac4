package baseline

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/sidecar/sink"
)

// TestExpected checks that a rise which came twice is expected a third time: in a week, in a
// fortnight, and on the same day of a month. Other rises are not.
func TestExpected(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, zone)
	}
	for name, tt := range map[string]struct {
		first, second, third time.Time
		expected             bool
	}{
		"each Sunday, over a change of clocks": {at(3, 1, 4), at(3, 8, 4), at(3, 15, 4), true},
		"each second Friday":                   {at(5, 1, 14), at(5, 15, 14), at(5, 29, 14), true},
		"the same day of each month":           {at(1, 15, 10), at(2, 15, 10), at(3, 15, 10), true},
		"the first day of a month, a Sunday":   {at(2, 1, 10), at(3, 1, 10), at(4, 1, 10), true},
		"two days in a month":                  {at(5, 12, 10), at(5, 14, 10), at(6, 12, 10), false},
		"each Sunday, an hour later":           {at(5, 3, 2), at(5, 10, 3), at(5, 17, 2), true},
		"at another hour":                      {at(5, 3, 2), at(5, 10, 6), at(5, 17, 6), false},
		"after ten days":                       {at(5, 4, 2), at(5, 14, 2), at(5, 24, 2), false},
		"on the same working day of a month":   {at(7, 9, 10), at(8, 13, 10), at(9, 9, 10), false},
		"at another hour the third time":       {at(5, 3, 2), at(5, 10, 2), at(5, 17, 8), false},
	} {
		var c calendar
		for _, begin := range []time.Time{tt.first, tt.second} {
			from := minuteOf(begin)
			c.add(rise{From: from, To: from + 120, Height: math.Log(1.8)}, zone)
		}
		got := c.height(minuteOf(tt.third) + 60)
		if want := math.Log(1.8); tt.expected != (got == want) || !tt.expected && got != 0 {
			t.Errorf("%s: a height of %v is expected, want %v: %v", name, got, want, tt.expected)
		}
	}
	var high calendar
	for i := range int64(2) {
		high.add(rise{From: minuteOf(monday) + i*7*24*60, To: minuteOf(monday) + i*7*24*60 + 3*24*60, Height: 1.9}, nil)
	}
	for _, e := range high.expected {
		if e.Height > math.Log(3.1) || e.To-e.From > longestExpected+2*punctual {
			t.Errorf("three days at ×6.7 are expected: %+v", e)
		}
	}
	var c calendar
	for i := range int64(2) {
		c.add(rise{From: minuteOf(monday) + i*7*24*60, Height: math.Log(1.3 + 1.4*float64(i))}, nil)
	}
	if len(c.expected) > 0 {
		t.Errorf("×1.3 and ×2.7 are one habit: %+v", c.expected)
	}
}

const weekMinutes = 7 * 24 * 60

// TestJoinedRise checks that a rise whose first part ended a ticket is one rise, and is expected for as long as the longest
// one before.
func TestJoinedRise(t *testing.T) {
	var c calendar
	for week := range int64(2) {
		from := minuteOf(monday) + week*weekMinutes
		c.add(rise{From: from, To: from + 118, Height: 0.5}, nil)
		c.add(rise{From: from + 119, To: from + 240 + 60*week, Height: 0.6, Confirmed: true}, nil)
	}
	if len(c.rises) != 2 || !c.rises[0].Confirmed || c.rises[0].Height != 0.6 || c.rises[0].To-c.rises[0].From != 240 {
		t.Errorf("two rises in two parts each are remembered as %+v", c.rises)
	}
	third := minuteOf(monday) + 2*weekMinutes
	if c.height(third+300) != 0.6 || c.height(third+300+punctual+1) != 0 {
		t.Errorf("after 240 and 300 minutes, expected are %+v", c.expected)
	}
	c.add(rise{From: third - 200, To: third - 190, Height: 0.5}, nil)
	c.add(rise{From: third - 190 + leastRise + 1, To: third - 100, Height: 0.5}, nil)
	if len(c.rises) != 4 {
		t.Errorf("rises with a pause are joined: %+v", c.rises)
	}
}

// riseAt returns a rise of two hours on a day of 2026.
func riseAt(month time.Month, day, hour int, height float64) rise {
	from := minuteOf(time.Date(2026, month, day, hour, 0, 0, 0, time.UTC))
	return rise{From: from, To: from + 120, Height: height}
}

// TestHigherPart checks that nothing is expected after a rise whose second part is much higher than the rise a week before.
func TestHigherPart(t *testing.T) {
	var c calendar
	c.add(riseAt(5, 3, 10, 0.5), nil)
	first := riseAt(5, 10, 10, 0.5)
	c.add(first, nil)
	c.add(rise{From: first.To + 1, To: first.To + 60, Height: 1}, nil)
	if len(c.expected) > 0 {
		t.Errorf("expected are %+v", c.expected)
	}
}

// TestWeeklyIsNotMonthly checks that a weekly job at the end of a month and at the beginning of the next one is expected a week
// later only.
func TestWeeklyIsNotMonthly(t *testing.T) {
	var c calendar
	c.add(riseAt(7, 29, 2, 0.6), nil)
	c.add(riseAt(8, 5, 2, 0.6), nil)
	if len(c.expected) != 1 || c.height(riseAt(8, 12, 2, 0).From) != 0.6 {
		t.Errorf("expected are %+v", c.expected)
	}
}

// TestWeeklyJob checks that a job of every Sunday pages at most twice, that the same rise on
// another day pages after that, and so does a higher one on a Sunday. The next process knows the
// rises.
func TestWeeklyJob(t *testing.T) {
	f := newFeed(options{})
	height := math.Log(1.9)
	f.every, f.shape = 30*time.Second, func(at time.Time) float64 {
		if at.Weekday() == time.Sunday && at.Hour() >= 2 && at.Hour() < 4 {
			return height
		}
		return 0
	}
	n := f.pagesIn(22 * day)
	if n == 0 || n > 2 {
		t.Errorf("the first three Sundays have %d pages", n)
	}
	next := testJob(options{})
	if err := next.restoreArchive(f.archive()); err != nil || len(next.series[0][0].calendar.rises) != len(f.series[0][0].calendar.rises) {
		t.Errorf("restored: %+v, %v", next.series[0][0].calendar, err)
	}
	if next, own := next.series[0][0].calendar, f.series[0][0].calendar; len(next.pages) != len(own.pages) || next.began != own.began {
		t.Errorf("restored: %+v, want %+v", next, own)
	}
	if n := f.pagesIn(13 * day); n != 0 {
		t.Errorf("%d pages on the next two Sundays", n)
	}
	f.ratio = 1.9 // at 00:00 on a Monday
	if took := f.until(time.Hour, pages); took == time.Hour {
		t.Error("the same rise on a Monday does not page")
	}
}

// TestDeclaredWindow checks that a rise in a declared window, and just after it, has no scores.
func TestDeclaredWindow(t *testing.T) {
	wednesday := monday.Add(2*day + 9*time.Hour)
	weekly := sink.Change{From: wednesday, To: wednesday.Add(2 * time.Hour), Weekly: true}
	f := newFeed(options{Changes: []sink.Change{weekly}})
	f.every = 30 * time.Second
	f.run(2*day + 9*time.Hour)
	f.ratio = 4.5
	for minute := range 124 {
		f.run(time.Minute)
		if v := f.views(f.now)[0][0]; v.Page > 0 || v.Ticket > 0 {
			t.Fatalf("minute %d: the scores are %v and %v", minute, v.Page, v.Ticket)
		}
	}
	if f.run(10 * time.Minute); f.views(f.now)[0][0].Page < 1 {
		t.Error("the rise does not page after its window")
	}
	if from, to := weekly.Window(wednesday.Add(8 * day)); from != wednesday.Add(7*day) || to != wednesday.Add(7*day+2*time.Hour) {
		t.Errorf("the window of a Thursday is %v to %v", from, to)
	}
}

// TestPatience checks that a job that had its false page pages for a rise like that one only if it lasts
// longer, or is higher.
func TestPatience(t *testing.T) {
	for name, tt := range map[string]struct {
		ratio float64
		pages bool // within the length of the first rise
	}{
		"as high": {1.7, false},
		"higher":  {2.5, true},
	} {
		f := newFeed(options{})
		f.every = 20 * time.Second
		f.run(9 * day)
		f.at(1.7, 2*time.Hour).at(1, 30*time.Hour)
		if n := len(f.series[0][0].calendar.pages); n != 1 {
			t.Fatalf("%s: ×1.7 pages %d times", name, n)
		}
		f.ratio = tt.ratio
		if n := f.pagesIn(100 * time.Minute); (n > 0) != tt.pages {
			t.Errorf("%s: the second rise pages %d times while it is shorter than the first", name, n)
		}
		if took := f.until(3*time.Hour, pages); took == 3*time.Hour {
			t.Errorf("%s: a longer rise does not page", name)
		}
	}
}

// TestPagesAreCounted checks that a page without a violated objective raises the expected false
// pages, and one with a violated objective does not.
func TestPagesAreCounted(t *testing.T) {
	minding := options{}
	minding.Thresholds[0][0], minding.Budgets[0][0] = 400*time.Millisecond, 0.05
	for name, tt := range map[string]struct {
		options options
		want    float64
	}{"no objective": {options{}, 30. / 7}, "violating its objective": {minding, 0}} {
		f := newFeed(tt.options)
		f.run(9 * day)
		before := f.view().Expected.V
		f.at(3, 40*time.Minute).at(1, 2*time.Hour)
		near(t, name, f.view().Expected.V-before, tt.want, 0.2)
	}
}
