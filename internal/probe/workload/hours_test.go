package workload

import (
	"testing"
	"time"
)

// TestHours: hours are on the clock of a place, also when it changes, and a span may end in the next week.
func TestHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	h := Hours{Location: berlin, Spans: []Span{{Start: 7 * time.Hour, Length: 13 * time.Hour}, {Start: 6*day + 23*time.Hour, Length: 2 * time.Hour}}}
	for at, want := range map[string]bool{
		"2026-11-30T05:59:59Z": false, "2026-11-30T06:00:00Z": true, "2026-11-30T18:59:59Z": true, "2026-11-30T19:00:00Z": false,
		"2026-07-06T05:00:00Z": true, "2026-07-06T04:59:59Z": false, // summer time
		"2026-12-01T10:00:00Z": false, // a Tuesday
		"2026-12-06T22:30:00Z": true, "2026-12-06T23:59:59Z": true, "2026-12-07T00:00:00Z": false,
	} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Cover(moment); got != want || !(Hours{}).Cover(moment) {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}
