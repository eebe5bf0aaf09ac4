package worlds

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Routines returns the open models of calendars in time zones and of operation. Constants of the
// detection may be chosen on them. Sealed has a model of each kind with other parameters.
func Routines() []Model {
	saturdaySunday := []time.Weekday{time.Saturday, time.Sunday}
	office9 := func(peak float64) office { return office{peak, 9, 17.5, 0.5, 0.25, saturdaySunday} }
	hours := func(low, high float64) func(*rand.Rand) time.Duration { return between(inHours(low), inHours(high)) }
	all := []Model{
		officeModel("office-utc", "UTC", office9(1.4)),
		officeModel("us-west", "America/Los_Angeles", office9(1.4)),
		dstModel("dst", "Europe/Berlin", time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), office9(1.5)),
		officeModel("kolkata", "Asia/Kolkata", office{1.5, 10, 19, 0.6, 0.2, saturdaySunday}),
		officeModel("riyadh", "Asia/Riyadh", office{1.4, 8, 16, 0.5, 0.1, []time.Weekday{time.Friday, time.Saturday}}),
		officeModel("no-weekend", "UTC", office{1.4, 9, 21, 1, 0, nil}),
		routineModel("sunday-job", "Europe/Berlin", "a job every Sunday from 02:00 to 04:00, ×1.8",
			routine(on(time.Sunday), 2, hours(2, 2), times(1.8, 1.8))),
		routineModel("month-end", "America/New_York", "a job at 10:00 on the last working day and on the first day of a month, for 4 to 7 hours, ×1.6 to ×2",
			routine(monthEnd, 10, hours(4, 7), times(1.6, 2))),
		routineModel("fortnightly", "UTC", "a job at 14:00 every second Friday, for 3 to 5 hours, ×1.5 to ×1.8",
			routine(everySecond(time.Friday), 14, hours(3, 5), times(1.5, 1.8))),
		flushModel("cache-flush", 4, 12*time.Minute, 2.5),
		batchModel("long-batches", 4, between(2*time.Minute, 10*time.Minute), "2 to 10 min", 0.3, 0.6),
		ownBatchModel("own-batches", 4, between(2*time.Minute, 10*time.Minute), "2 to 10 min", 0.3, 0.6),
		sizeModel("mixed-sizes", sizeMix{60 * time.Microsecond, 2000, 150_000, 8000, 1, 600, nil}, 2, 3, 8),
		failoverModel("failover", 4, 80*time.Millisecond, hours(2, 8), "2 to 8 hours"),
		rollbackModel("rollback", 2, 1.25, hours(1.8, 2.2), "about two hours"),
	}
	for i, w := range []struct {
		zone string
		office
	}{
		{"UTC", office{1.3, 9, 18, 0.5, 0.2, saturdaySunday}},
		{"Europe/Berlin", office{1.6, 8, 17, 0.4, 0.3, saturdaySunday}},
		{"America/Los_Angeles", office{2, 9, 18, 0.7, 0, saturdaySunday}},
		{"Asia/Kolkata", office{2.5, 10, 19, 0.5, 0.3, []time.Weekday{time.Sunday}}},
		{"Asia/Tokyo", office{3, 9.5, 17.5, 1.2, 0, saturdaySunday}},
		{"America/New_York", office{1.8, 8.5, 20, 0.3, 0.4, saturdaySunday}},
	} {
		all = append(all, officeModel(fmt.Sprintf("first-week-%d", i+1), w.zone, w.office))
	}
	return all
}

func inHours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }

// routineModel is a calm deployment with a routine on the clock of a time zone.
func routineModel(name, zoneName, about string, effects ...effect) Model {
	m := baseModel(name, about+"; on the clock of "+zoneName, append([]effect{calm()}, effects...)...)
	m.builtin.zone = zoneName
	return m
}

func officeModel(name, zoneName string, o office) Model {
	m := routineModel(name, zoneName, o.describe(), o.effect)
	if o.peak >= 1.8 {
		m.TTFTObjective = 5 * time.Second // an objective that such a deployment can keep
	}
	return m
}

// dstModel begins at a date from which the clocks change in the third or fourth week.
func dstModel(name, zoneName string, start time.Time, o office) Model {
	m := officeModel(name, zoneName, o)
	m.builtin.start = start
	m.builtin.about += ", which changes within the run from " + start.Format(time.DateOnly)
	return m
}

func (o office) describe() string {
	clock := func(h float64) string { return fmt.Sprintf("%02d:%02d", int(h), int(h*60)%60) }
	line := fmt.Sprintf("office hours from %s to %s, ×%g, that differ from day to day", clock(o.opens), clock(o.closes), o.peak)
	if o.lunch > 0 {
		line += fmt.Sprintf(", %.0f %% less at noon", 100*o.lunch)
	}
	if len(o.off) == 0 {
		return line + ", every day"
	}
	return line + ", except on " + strings.Trim(fmt.Sprint(o.off), "[]")
}

func flushModel(name string, times float64, heal time.Duration, size float64) Model {
	m := routineModel(name, "UTC", fmt.Sprintf("%g releases a week in working hours empty the prefix cache: follow-up turns take ×%g, which falls to ×1 within %s", times, size, heal),
		cacheFlushes(times, heal))
	m.builtin.flush = size
	return m
}

func batchModel(name string, perDay float64, took func(*rand.Rand) time.Duration, length string, least, most float64) Model {
	m := routineModel(name, "UTC", fmt.Sprintf("%g batches of long prompts a day at random times, of %s: %.0f to %.0f %% of turns take 3 to 8 times as long", perDay, length, 100*least, 100*most),
		longBatches(perDay, took, least, most))
	m.builtin.slow = times(3, 8)
	return m
}

func failoverModel(name string, perMonth float64, added time.Duration, took func(*rand.Rand) time.Duration, length string) Model {
	return routineModel(name, "UTC", fmt.Sprintf("%g times in 30 days all turns go to another region for %s, which adds %s to the TTFT", perMonth, length, added),
		failovers(perMonth, added, took))
}

func rollbackModel(name string, times, size float64, took func(*rand.Rand) time.Duration, length string) Model {
	return routineModel(name, "UTC", fmt.Sprintf("%g bad releases a week in working hours, ×%g for %s until the rollback, with a spike of a minute or two at both ends", times, size, length),
		badReleases(times, size, took))
}
