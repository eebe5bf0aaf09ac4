package engine

import (
	"slices"
	"strconv"
	"time"

	"synthetic/internal/slo"
)

// duration formats seconds as people write them: 2.5s, 90s, 4m30s, 2h5m.
func duration(seconds float64) string {
	if seconds < 120 {
		return strconv.FormatFloat(float64(int(seconds*10+0.5))/10, 'f', -1, 64) + "s"
	}
	return slo.FormatDuration(time.Duration(seconds+0.5) * time.Second)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// upTo returns the part of the spans before end.
func upTo(end time.Time, spans []Span) []Span {
	spans = slices.DeleteFunc(spans, func(s Span) bool { return !s.From.Before(end) })
	for i := range spans {
		spans[i].To = earlier(spans[i].To, end)
	}
	return spans
}
