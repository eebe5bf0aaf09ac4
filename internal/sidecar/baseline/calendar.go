package baseline

import (
	"math"
	"slices"
	"time"
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

// comings returns when a rise comes again that came at two times: a week or a fortnight apart, or on the same day of two
// months.
func comings(first, second time.Time) (out []time.Time) {
	for _, apart := range []struct{ months, days int }{{days: 7}, {days: 14}, {months: 1}} {
		again := first.AddDate(0, apart.months, apart.days)
		isInEachMonth := first.Day() <= 28 && second.Day() <= 28
		if (apart.months == 0 || isInEachMonth) && second.Sub(again).Abs() <= punctual*time.Minute {
			out = append(out, second.AddDate(0, apart.months, apart.days))
		}
	}
	return out
}

// expectedNow returns the log ratio that is expected at the minute in progress, from repetitions.
func (s *series) expectedNow(at time.Time) float64 {
	height := s.calendar.height(s.minute)
	if height == 0 || s.baseline == nil {
		return height
	}
	return max(0, height-s.baseline.shapeAt(at))
}
