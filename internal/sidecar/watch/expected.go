package watch

import (
	"slices"
	"time"
)

// A rise is expected if it came at this time before: in both of the last two weeks within half an hour, or on at least
// four of the last seven days within four hours, and on at most half as many of them twelve hours earlier or later.
const (
	expectedDays, nearDay = 7, 8 // in half hours
	// mostExpected is the most that is expected, as a log ratio; a rise is at least risen.
	mostExpected = 1.1
)

// rose returns how far the half hours around one were above the level, and above that of their day; 0 before an accepted
// level.
func (u *usual) rose(number, near int32) (rise float64) {
	if number < u.Since {
		return 0
	}
	day := make([]float64, 0, slots+1)
	u.around(number, slots/2, func(v float64) { day = append(day, v) })
	if len(day) == 0 {
		return 0
	}
	level := max(u.level, median(day)) // the level has fallen since, or the day was a quiet one
	u.around(number, near, func(v float64) { rise = max(rise, v-level) })
	return rise
}

// around calls do with the half hours around one, without their offsets.
func (u *usual) around(number, near int32, do func(v float64)) {
	for i := u.search(number - near); i < len(u.Entries) && u.Entries[i].Number <= number+near; i++ {
		do(float64(u.Entries[i].Mean) - u.offset(u.Entries[i].Number))
	}
}

// expected returns the log ratio that is expected in a half hour, 0 without one.
func (u *usual) expected(number int32) float64 {
	if len(u.Entries) < (expectedDays-1)*slots {
		return 0
	}
	at := startOf(number)
	if u.zone != nil {
		at = at.In(u.zone)
	}
	if v := max(u.weekly(at), u.daily(at)); v >= risen {
		return min(v, mostExpected)
	}
	return 0
}

// weekly returns the rise that came in both of the last two weeks.
func (u *usual) weekly(at time.Time) float64 {
	last, before := numberOf(at.AddDate(0, 0, -7)), numberOf(at.AddDate(0, 0, -14))
	return min(u.rose(last, 1), u.rose(before, 1))
}

// daily returns the rise that came on most of the last days, and not as often at the other end of the day.
func (u *usual) daily(at time.Time) float64 {
	here, away := make([]float64, expectedDays), 0
	for i := range here {
		number := numberOf(at.AddDate(0, 0, -1-i))
		here[i] = u.rose(number, nearDay)
		if u.rose(number+slots/2, nearDay) >= risen {
			away++
		}
	}
	slices.Sort(here)
	return here[expectedDays-max(expectedDays/2+1, min(2*away, expectedDays))]
}
