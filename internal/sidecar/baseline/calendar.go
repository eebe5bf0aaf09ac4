package baseline

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/sidecar/sink"
)

// A calendar remembers when a signal was far above its baseline. A rise that came twice at the same
// time of a week, of a fortnight or of a month is expected a third time, and pages only if it is
// higher than before.
type calendar struct {
	// began is the minute since which rises are remembered; 0 means never.
	began int64
	// rises and pages are ordered by time.
	rises []rise
	pages []pageStart
	// expected are the next repetitions of rises.
	expected []expectation
}

// rise is a period in which the level was far above the baseline.
type rise struct {
	// From and To are minutes since 1970.
	From, To int64
	// Height is the highest log ratio of five minutes to the level without its shape. A shape that
	// learns the rise later does not count it twice.
	Height float64
	// Confirmed is true if the rise violated an objective.
	Confirmed bool
	// habitual is true if an alike rise came a week, a fortnight or a month before or after it.
	habitual bool
}

// pageStart is the minute in which the first page of a job began, and whether an objective was violated
// while it was up.
type pageStart struct {
	Minute    int64
	Confirmed bool
}

// expectation is a period in which a level up to Height, without the shape, is expected.
type expectation struct {
	From, To int64
	Height   float64
	// of is the minute in which the rise began that is expected again.
	of int64
}

const (
	// leastHeight is the log ratio from which a rise is remembered, and mostHeight, three times, the
	// highest that is ever expected.
	leastHeight, mostHeight = 0.3, 1.1
	// mostRemembered bounds the lists of a calendar. They forget after rememberedDays, two months.
	mostRemembered, rememberedDays = 128, 63
	// punctual is by how many minutes the repetitions of a rise may differ in time: by a change of clocks and a quarter
	// of an hour, since the time zone may be unknown. alike is by how much they may differ in height, as log ratio.
	// longestExpected is the longest expectation in minutes.
	punctual, alike, longestExpected = 75, 0.35, 12 * 60
	// Routines follow the first and the last monthDays working days of a month, and the first monthDays days.
	monthDays = 3
)

// add remembers a rise, and expects it again if it came before, also if it violated an objective, because
// the objective has alerts of its own.
func (c *calendar) add(r rise, zone *time.Location) {
	defer c.forget(r.To)
	if r.Height < leastHeight {
		return
	}
	r = c.join(r)
	var again []expectation
	begin := minuteTime(r.From, zone)
	for i := range c.rises {
		before := &c.rises[i]
		if math.Abs(before.Height-r.Height) > alike {
			continue
		}
		for _, next := range comings(minuteTime(before.From, zone), begin) {
			r.habitual, before.habitual = true, true
			from, length := minuteOf(next), min(max(r.To-r.From, before.To-before.From), longestExpected)
			again = append(again, expectation{
				From: from - punctual, To: from + length + punctual, Height: min(r.Height, before.Height, mostHeight), of: r.From,
			})
		}
	}
	c.rises = newestOf(append(c.rises, r))
	c.expected = newestOf(append(c.expected, again...))
}

// join takes the last rise out and returns it with r, if r continues it. When a page or a ticket ends by itself, the
// minutes so far are ignored, and the rest of the rise begins anew.
func (c *calendar) join(r rise) rise {
	n := len(c.rises) - 1
	if n < 0 || r.From < c.rises[n].From || r.From-c.rises[n].To > leastRise {
		return r
	}
	last := c.rises[n]
	c.rises = c.rises[:n]
	c.expected = slices.DeleteFunc(c.expected, func(e expectation) bool { return e.of == last.From })
	r.From, r.To, r.Height = last.From, max(r.To, last.To), max(r.Height, last.Height)
	r.Confirmed, r.habitual = r.Confirmed || last.Confirmed, r.habitual || last.habitual
	return r
}

// forget drops what is too old at a minute.
func (c *calendar) forget(minute int64) {
	oldest := minute - rememberedDays*24*60
	c.rises = slices.DeleteFunc(c.rises, func(r rise) bool { return r.To < oldest })
	c.pages = slices.DeleteFunc(c.pages, func(p pageStart) bool { return p.Minute < oldest })
	c.expected = slices.DeleteFunc(c.expected, func(e expectation) bool { return e.To < minute })
}

// forgetHabits drops what was learned about an earlier level.
func (c *calendar) forgetHabits() { c.expected, c.rises = nil, nil }

func newestOf[T any](all []T) []T { return all[max(0, len(all)-mostRemembered):] }

// height returns the level that is expected at a minute, 0 if none is.
func (c *calendar) height(minute int64) (height float64) {
	for _, e := range c.expected {
		if e.From <= minute && minute <= e.To {
			height = max(height, e.Height)
		}
	}
	return height
}

// within returns the highest rise in a window [from, to), 0 without one.
func (c *calendar) within(from, to time.Time) (height float64) {
	for _, r := range c.rises {
		if r.To >= minuteOf(from) && r.From < minuteOf(to) {
			height = max(height, r.Height)
		}
	}
	return height
}

// patience returns for how long a rise must last to be longer than each remembered one that was as high
// and violated no objective. One that repeats is expected at its own times, and says
// nothing about others.
func (c *calendar) patience(height float64) time.Duration {
	longest := int64(0)
	for _, r := range c.rises {
		if !r.Confirmed && !r.habitual && r.Height >= height-asHigh {
			longest = max(longest, r.To-r.From+1)
		}
	}
	return time.Duration(min(longest, longestExpected)) * time.Minute
}

// asHigh is by how much a rise may be lower and still count as being as high, as a log ratio.
const asHigh = 0.15

// page remembers that a page began.
func (c *calendar) page(minute int64) { c.pages = newestOf(append(c.pages, pageStart{Minute: minute})) }

// confirm marks the page that began at a minute as one that violated an objective.
func (c *calendar) confirm(began int64) {
	if n := len(c.pages); n > 0 && c.pages[n-1].Minute >= began {
		c.pages[n-1].Confirmed = true
	}
}

// unconfirmed returns the number of pages in (from, to] that violated no objective.
func (c *calendar) unconfirmed(from, to int64) (n float64) {
	for _, p := range c.pages {
		if !p.Confirmed && p.Minute > from && p.Minute <= to {
			n++
		}
	}
	return n
}

func minuteTime(minute int64, zone *time.Location) time.Time {
	at := time.Unix(minute*60, 0).UTC()
	if zone != nil {
		at = at.In(zone)
	}
	return at
}

// repetition says when something comes again: every Days days, or on the same day of each month, or if both are 0 on the
// same working day of each month. WorkingDay counts from the beginning of the month, or from its end if it is negative.
type repetition struct {
	Days, WorkingDay int
	Monthly          bool
}

// after returns the time of the repetition after one at t.
func (r repetition) after(t time.Time) time.Time {
	switch {
	case r.Days > 0:
		return t.AddDate(0, 0, r.Days)
	case r.Monthly:
		return t.AddDate(0, 1, 0)
	}
	return workingDay(t, t.Month()+1, r.WorkingDay)
}

// repetitions returns the repetitions that two times fit: weeks or fortnights, a day that each month has, and a working
// day of the month, up to monthDays from its beginning or its end.
func repetitions(first, second time.Time) (out []repetition) {
	candidates := []repetition{{Days: 7}, {Days: 14}}
	if days := second.Sub(first).Hours() / 24; days > 24 && days < 38 {
		candidates = append(candidates, workingDays(first)...)
		if first.Day() <= 28 && second.Day() <= 28 {
			candidates = append(candidates, repetition{Monthly: true})
		}
	}
	for _, r := range candidates {
		if second.Sub(r.after(first)).Abs() <= punctual*time.Minute {
			out = append(out, r)
		}
	}
	return out
}

// workingDays returns the working day of a month on which a time is, if it is at most monthDays from the beginning or the
// end.
func workingDays(t time.Time) (out []repetition) {
	for n := -monthDays; n <= monthDays; n++ {
		if n != 0 && workingDay(t, t.Month(), n).Day() == t.Day() {
			out = append(out, repetition{WorkingDay: n})
		}
	}
	return out
}

// comings returns when a rise comes again that came at two times. One routine closes a month and opens the next one, so
// both come again if they are at the same time of day in one turn of the month.
func comings(first, second time.Time) (out []time.Time) {
	for _, r := range repetitions(first, second) {
		out = append(out, r.after(second))
	}
	const longestTurn = 6 // days; a job of every week is none
	days := int(math.Round(second.Sub(first).Hours() / 24))
	if days < 1 || days > longestTurn || first.Month() == second.Month() || second.Sub(first.AddDate(0, 0, days)).Abs() > punctual*time.Minute {
		return out
	}
	if last, next := edges(first), edges(second); len(last) > 0 && len(next) > 0 {
		for _, r := range last {
			out = append(out, r.after(first))
		}
		for _, r := range next {
			out = append(out, r.after(second))
		}
	}
	return out
}

// edges returns the repetitions of a day at the beginning or at the end of a month: by its working day, or by its number if
// it is no working day.
func edges(t time.Time) []repetition {
	if out := workingDays(t); len(out) > 0 || t.Day() > monthDays {
		return out
	}
	return []repetition{{Monthly: true}}
}

// workingDay returns the nth working day of a month, at the time of day of t. It counts from the end if nth is
// negative.
func workingDay(t time.Time, month time.Month, nth int) time.Time {
	first, direction := 1, 1
	if nth < 0 {
		month, first, direction, nth = month+1, 0, -1, -nth // from the day before the next month
	}
	for i := 0; ; i++ {
		d := time.Date(t.Year(), month, first+direction*i, t.Hour(), t.Minute(), 0, 0, t.Location())
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			nth--
		}
		if nth == 0 {
			return d
		}
	}
}

// expectedNow returns the log ratio that is expected at the minute in progress: from repetitions, and
// from the earlier windows of a change that is declared for every week.
func (s *series) expectedNow(at time.Time) float64 {
	height := s.calendar.height(s.minute)
	for _, c := range s.changes {
		if c.Weekly && c.Covers(at) {
			height = max(height, s.calendar.declaredHeight(c, minuteTime(s.minute, c.Location)))
		}
	}
	if height == 0 || s.baseline == nil {
		return height
	}
	return max(0, height-s.baseline.shapeAt(at))
}

// declaredHeight returns the highest level of the earlier windows of a weekly change. A window up to that level does
// not page. A first window has nothing to be compared with, and may rise to mostHeight.
func (c *calendar) declaredHeight(change sink.Change, at time.Time) float64 {
	height, known := 0.0, false
	begin, _ := change.Window(at)
	for week := 1; week <= windowWeeks; week++ {
		from, to := change.Window(at.AddDate(0, 0, -7*week))
		if from.Before(begin) && c.began > 0 && c.began <= minuteOf(from) {
			height, known = max(height, c.within(from, to)), true
		}
	}
	if !known {
		return mostHeight
	}
	return min(height, mostHeight)
}

// windowWeeks is the number of earlier windows with which a declared window is compared.
const windowWeeks = 4
