package baseline

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// texts returns the habits of a job, learned and declared, as text.
func (f *feed) texts() (out []string) {
	for _, h := range append(f.habits(), f.declared(f.now)...) {
		out = append(out, h.ID+" "+h.Text())
	}
	return out
}

// TestHabits checks how habits are described: rises of several signals and of several parts of a day are one habit, a
// fortnight is told from a week, and times are on the clock of the target.
func TestHabits(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour, minute int) rise {
		from := minuteOf(time.Date(2026, month, day, hour, minute, 0, 0, zone))
		return rise{From: from, To: from + 60, Height: math.Log(1.8)}
	}
	higher := func(r rise) rise { r.Height = math.Log(2); return r }
	for name, tt := range map[string]struct {
		ttft, tpot []rise
		now        rise
		want       []string
	}{
		"none": {nil, nil, at(5, 1, 0, 0), nil},
		"every week, in two signals": {
			[]rise{at(5, 3, 2, 0), at(5, 10, 2, 7), at(5, 17, 2, 0)}, []rise{higher(at(5, 10, 2, 30)), higher(at(5, 17, 2, 30))}, at(5, 20, 0, 0),
			[]string{"sun-0200 every Sunday 02:00–03:30 America/New_York: ×2.0 (tpot of first turns), not paged since 2026-05-10; next 2026-05-24"},
		},
		"every week, in two parts": {
			[]rise{at(5, 3, 2, 0), at(5, 3, 3, 10), at(5, 10, 2, 0), at(5, 10, 3, 10)}, nil, at(5, 11, 0, 0),
			[]string{"sun-0200 every Sunday 02:00–04:15 America/New_York: ×1.8 (ttft of first turns), not paged since 2026-05-10; next 2026-05-17"},
		},
		"every second week": {
			[]rise{at(5, 1, 22, 30), at(5, 15, 22, 30)}, nil, at(5, 16, 0, 0),
			[]string{"fri-2230 every second Friday 22:30–23:30 America/New_York: ×1.8 (ttft of first turns), not paged since 2026-05-15; next 2026-05-29"},
		},
		"the end of a month": {
			[]rise{at(2, 26, 10, 0), at(3, 30, 10, 0)}, nil, at(4, 1, 0, 0),
			[]string{"second-last-1000 the second last working day of each month 10:00–11:00 America/New_York: ×1.8 (ttft of first turns), not paged since 2026-03-30; next 2026-04-29"},
		},
		"the same day of each month": {
			[]rise{at(1, 15, 10, 0), at(2, 15, 10, 0)}, nil, at(2, 16, 0, 0),
			[]string{"day-15-1000 day 15 of each month 10:00–11:00 America/New_York: ×1.8 (ttft of first turns), not paged since 2026-02-15; next 2026-03-15"},
		},
		"over": {[]rise{at(5, 3, 2, 0), at(5, 10, 2, 0)}, nil, at(5, 17, 5, 0), nil},
	} {
		f := newFeed(options{Location: zone})
		for i, rises := range [][]rise{tt.ttft, tt.tpot} {
			for _, r := range rises {
				f.series[0][i].calendar.add(r, zone)
			}
		}
		f.minute = tt.now.From
		if got := f.texts(); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestDeclaredHabit checks that a weekly window of the changes is a habit without an ID, whose height is that of the
// last windows.
func TestDeclaredHabit(t *testing.T) {
	zone := time.FixedZone("far west", -8*3600)
	wednesday := monday.Add(2*day + 9*time.Hour) // on the clock of the zone
	f := newFeed(options{Location: zone, Changes: []sink.Change{{From: wednesday, To: wednesday.Add(2 * time.Hour), Weekly: true, Location: zone}}})
	f.run(day)
	for _, want := range []string{" every Wednesday 09:00–11:00 far west: declared in changes, pages only above ×3.0; next 2026-01-07", " every Wednesday 09:00–11:00 far west: declared in changes, pages only above ×1.0; next 2026-01-14"} {
		if got := f.texts(); !slices.Equal(got, []string{want}) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		f.run(2 * day)
	}
}

// TestTrackerHabits checks that a tracker lists the habits of a job, the next one first.
func TestTrackerHabits(t *testing.T) {
	now := monday.Add(8 * day)
	tracker := NewTracker(TrackerOptions{Now: func() time.Time { return now }})
	info := sink.Job{Changes: []sink.Change{{From: monday.Add(5 * day), To: monday.Add(5*day + time.Hour), Weekly: true}}}
	info.Target.Name, info.Workload.Name = "east", "chat"
	tracker.Add(info)
	for week := range int64(2) {
		from := minuteOf(monday) + week*weekMinutes
		tracker.jobs[info.Key()].series[0][0].calendar.add(rise{From: from, To: from + 60, Height: 1}, nil)
	}
	var got []string
	for _, h := range tracker.Habits(info.Key()) {
		got = append(got, h.When)
	}
	if want := []string{"every Saturday 00:00–01:00", "every Monday 00:00–01:00"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tracker.Habits(probe.Key{Target: "west"}); got != nil {
		t.Errorf("an unknown job has the habits %v", got)
	}
}

// TestReject checks that a rejected rise of each Sunday pages on the next two Sundays, also in the next process, and
// that neither the calendar nor the baseline learns it again.
func TestReject(t *testing.T) {
	f := newFeed(options{})
	f.every, f.shape = 2*time.Minute, func(at time.Time) float64 {
		if at.Weekday() == time.Sunday && at.Hour() >= 2 && at.Hour() < 4 {
			return math.Log(1.9)
		}
		return 0
	}
	f.run(4 * 7 * day)
	f.at(1.9, 5*time.Hour).at(1, 19*time.Hour) // a longer rise at another time changes nothing
	r := f.reject("sun-0200")
	if r.Habit == nil || !strings.HasPrefix(r.Habit.When, "every Sunday 02:00–0") || slices.ContainsFunc(r.Others, func(h Habit) bool { return h.ID == "sun-0200" }) {
		t.Fatalf("rejected %+v", r)
	}
	if again := f.reject("sun-0200"); again.Habit != nil {
		t.Errorf("a rejected habit is still one: %+v", again)
	}
	archive := f.archive()
	f.job = testJob(options{})
	if err := f.restoreArchive(archive); err != nil {
		t.Fatal(err)
	}
	for week := range 3 {
		if n := f.pagesIn(7 * day); n != 1 {
			t.Errorf("%d pages in week %d after the rejection", n, week)
		}
	}
	sunday := f.now.Add(-21 * time.Hour)
	near(t, "the shape of Sunday at three", f.series[0][0].baseline.shapeAt(sunday), 0, 0.1)
}

// TestRejectMonthly checks that a rejected rise of each month is not learned again from the next one.
func TestRejectMonthly(t *testing.T) {
	var c calendar
	f := newFeed(options{})
	month := func(m time.Month, day int) rise {
		from := minuteOf(time.Date(2026, m, day, 10, 0, 0, 0, time.UTC))
		return rise{From: from, To: from + 120, Height: 1}
	}
	c.add(month(7, 1), nil)
	c.add(month(8, 3), nil)
	s := &f.series[0][0]
	s.calendar, s.minute, f.minute = c, month(8, 31).From, month(8, 31).From
	if r := f.reject("first-1000"); r.Habit == nil {
		t.Fatalf("rejected %+v", r)
	}
	for _, r := range []rise{month(9, 1), month(10, 1)} {
		if s.calendar.add(r, nil); len(s.calendar.expected) > 0 {
			t.Errorf("it is expected again: %+v", s.calendar.expected)
		}
	}
}

// TestRejectOneEnd checks that a user can reject one end of a month and keep the other.
func TestRejectOneEnd(t *testing.T) {
	f := newFeed(options{})
	s := &f.series[0][0]
	day := func(m time.Month, day int) rise {
		from := minuteOf(time.Date(2026, m, day, 10, 0, 0, 0, time.UTC))
		return rise{From: from, To: from + 120, Height: 1}
	}
	s.calendar.add(day(1, 30), nil)
	s.calendar.add(day(2, 1), nil)
	s.minute, f.minute = day(2, 10).From, day(2, 10).From
	if r := f.reject("last-1000"); r.Habit == nil || len(r.Others) != 1 || r.Others[0].ID != "day-1-1000" {
		t.Fatalf("rejected %+v", r)
	}
	s.calendar.add(day(2, 27), nil)
	s.calendar.add(day(3, 1), nil)
	if s.calendar.height(day(3, 31).From) != 0 || s.calendar.height(day(4, 1).From) != 1 {
		t.Errorf("expected are %+v", s.calendar.expected)
	}
}

// TestRejectOverTheEndOfAMonth checks that the earlier times of a rejected rise are as long as it is, if it
// ends in the next month.
func TestRejectOverTheEndOfAMonth(t *testing.T) {
	f := newFeed(options{})
	s := &f.series[0][0]
	for _, begin := range []time.Time{time.Date(2026, 9, 30, 23, 0, 0, 0, time.UTC), time.Date(2026, 10, 30, 23, 0, 0, 0, time.UTC)} {
		s.calendar.add(rise{From: minuteOf(begin), To: minuteOf(begin) + 180, Height: 1}, nil)
	}
	s.minute = minuteOf(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))
	f.minute = s.minute
	habits := f.habits()
	if len(habits) == 0 {
		t.Fatal("no habit")
	}
	s.reject(habits[0])
	for _, r := range s.calendar.rises {
		if at := minuteTime(r.From, nil); r.To-r.From != 180 || at.Hour() != 23 || !r.Rejected {
			t.Errorf("a rejected rise from %v of %d minutes", at, r.To-r.From)
		}
	}
}

// TestAcceptForgetsHabits checks that an accepted level says which habits are forgotten with the previous one.
func TestAcceptForgetsHabits(t *testing.T) {
	f := newFeed(options{})
	f.run(3 * day)
	for week := range int64(2) {
		from := f.minute + (week-1)*weekMinutes
		f.series[0][0].calendar.add(rise{From: from, To: from + 60, Height: 1}, nil)
	}
	if a := f.accept(f.now.Add(-time.Hour), f.now); len(a.Forgotten) != 1 || a.Forgotten[0].ID != "thu-0000" {
		t.Errorf("forgotten: %+v", a.Forgotten)
	}
}
