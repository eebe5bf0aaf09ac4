package worlds

import (
	"math/rand/v2"
	"time"
	_ "time/tzdata" // worlds live in time zones, also on machines without a database of them
)

// zone returns a time zone of the IANA database.
func zone(name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err) // the database is linked, so the name is misspelled
	}
	return location
}

// localDay is a day on the clock of a deployment's users.
type localDay struct {
	// date is the start of the same date in UTC.
	date time.Time
	c    *course
}

// at returns the time since the start of the run at which the local clock shows some hours. Hours
// above 24 are on the next day.
func (d localDay) at(hours float64) time.Duration {
	y, m, day := d.date.Date()
	return time.Date(y, m, day, 0, 0, int(hours*3600), 0, d.c.start.Location()).Sub(d.c.start)
}

// localDays returns all local days of a run, and one before and after.
func (c *course) localDays() []localDay {
	var out []localDay
	y, m, d := c.start.Date()
	for date := time.Date(y, m, d-1, 0, 0, 0, 0, time.UTC); ; date = date.AddDate(0, 0, 1) {
		out = append(out, localDay{date, c})
		if out[len(out)-1].at(0) >= c.length() {
			return out
		}
	}
}

// local returns the local day of a step, as an index of localDays, and the hour of that day.
func (c *course) local(i int) (number int, hours float64) {
	seconds := func(t time.Time) int64 { _, offset := t.Zone(); return t.Unix() + int64(offset) }
	const perDay = 24 * 60 * 60
	now := seconds(c.start.Add(time.Duration(i) * courseStep))
	return int(now/perDay-seconds(c.start)/perDay) + 1, float64(now%perDay) / 3600
}

// chosen says which dates a routine belongs to.
type chosen func(date time.Time) bool

func on(days ...time.Weekday) chosen {
	return func(date time.Time) bool {
		for _, d := range days {
			if date.Weekday() == d {
				return true
			}
		}
		return false
	}
}

// everySecond returns the dates of a weekday in even weeks.
func everySecond(day time.Weekday) chosen {
	return func(date time.Time) bool {
		_, week := date.ISOWeek()
		return date.Weekday() == day && week%2 == 0
	}
}

// monthEnd returns the last working day of a month and the first day of the next one.
func monthEnd(date time.Time) bool {
	if date.Day() == 1 {
		return true
	}
	weekend := on(time.Saturday, time.Sunday)
	for next := date.AddDate(0, 0, 1); next.Month() == date.Month(); next = next.AddDate(0, 0, 1) {
		if !weekend(next) {
			return false
		}
	}
	return !weekend(date)
}

// routine raises the level from an hour of the local clock on, on some dates.
func routine(dates chosen, from float64, took func(*rand.Rand) time.Duration, size func(*rand.Rand) float64) effect {
	return func(c *course, rng *rand.Rand) {
		for _, d := range c.localDays() {
			late, length, height := between(0, 5*time.Minute)(rng), took(rng), size(rng)
			if dates(d.date) {
				c.add(d.at(from)+late, d.at(from)+late+length, height)
			}
		}
	}
}

// office is a load that follows the working hours of the local clock.
type office struct {
	// peak is the factor on the TTFT within the working hours opens to closes.
	peak, opens, closes float64
	// steep is how long the morning and the evening take, in hours.
	steep float64
	// lunch is the part of the load that is missing at 12:30.
	lunch float64
	// off are the days with a tenth of the load.
	off []time.Weekday
}

// effect draws height and time for each day.
func (o office) effect(c *course, rng *rand.Rand) {
	days := c.localDays()
	height, late := make([]float64, len(days)), make([]float64, len(days))
	for i, d := range days {
		height[i], late[i] = logOf(o.peak)*max(0.5, 1+0.12*rng.NormFloat64()), 0.25*rng.NormFloat64()
		if on(o.off...)(d.date) {
			height[i] *= 0.1
		}
	}
	for i := range c.level {
		d, h := c.local(i)
		c.level[i] += float32(height[d] * o.shape(h-late[d]))
	}
}

// shape returns the load at an hour, 0 at night and nearly 1 in working hours.
func (o office) shape(h float64) float64 {
	open := logistic((h-o.opens)/o.steep) * logistic((o.closes-h)/o.steep)
	return open * (1 - o.lunch*hump(h, 12.5, 0.5))
}
