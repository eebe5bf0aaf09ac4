package backtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/slo"
)

// ParseTime reads a time in one of the usual forms: RFC 3339, also without seconds, with a space instead
// of the T or with an offset such as +0100; the same without a zone, which is then on the clock of
// location (nil means UTC); or Unix seconds.
func ParseTime(text string, location *time.Location) (time.Time, error) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds < 1e9 || seconds >= 1e11 {
			return time.Time{}, fmt.Errorf("%q is not a time: Unix seconds have ten digits", text)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	zoned := strings.ReplaceAll(strings.Replace(text, " ", "T", 1), " ", "")
	if local, ok := strings.CutSuffix(zoned, "UTC"); ok {
		zoned = local + "Z"
	}
	for _, zone := range []string{"Z07:00", "Z0700", "Z07", ""} {
		for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if at, err := time.ParseInLocation(layout+zone, zoned, cmp.Or(location, time.UTC)); err == nil {
				return at, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write for example 2026-11-08T14:02:00Z, 2026-11-08 14:02 or Unix seconds", text)
}

// Progress is called while a recording is replayed: at is the time that has been replayed, between the
// start and the end of the replay.
type Progress func(at, start, end time.Time)

func (p Progress) tell(at, start, end time.Time) {
	if p != nil {
		p(at, start, end)
	}
}

// duration formats seconds as people write them: 2.5s, 90s, 4m30s, 2h5m.
func duration(seconds float64) string {
	if seconds < 120 {
		return strconv.FormatFloat(float64(int(seconds*10+0.5))/10, 'f', -1, 64) + "s"
	}
	return slo.FormatDuration(time.Duration(seconds+0.5) * time.Second)
}

// upTo returns the part of the spans before end.
func upTo(end time.Time, spans []Span) []Span {
	spans = slices.DeleteFunc(spans, func(s Span) bool { return !s.From.Before(end) })
	for i := range spans {
		spans[i].To = earlier(spans[i].To, end)
	}
	return spans
}
