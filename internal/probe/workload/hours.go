package workload

import (
	"cmp"
	"slices"
	"time"
)

// Hours are the times of the week in which conversations start. The zero value means always.
type Hours struct {
	Spans    []Span
	Location *time.Location // of the clock; nil means UTC
}

// Span is a part of every week. Start counts from the begin of Monday.
type Span struct{ Start, Length time.Duration }

// Cover reports whether conversations start at a time.
func (h Hours) Cover(at time.Time) bool {
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	at = at.In(cmp.Or(h.Location, time.UTC))
	hour, minute, second := at.Clock()
	clock := time.Duration((at.Weekday()+6)%7)*day + time.Duration(hour*3600+minute*60+second)*time.Second
	return h.Spans == nil || slices.ContainsFunc(h.Spans, func(s Span) bool { return (clock-s.Start+week)%week < s.Length })
}
