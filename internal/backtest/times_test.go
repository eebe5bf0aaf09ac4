package backtest

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 11, 8, 13, 2, 0, 0, time.UTC)
	for _, text := range []string{
		"2026-11-08T13:02:00Z", "2026-11-08T13:02Z", "2026-11-08 13:02 UTC", "2026-11-08T13:02:00.000+00:00", "1794142920",
		"2026-11-08T14:02:00+01:00", "2026-11-08 14:02 +0100", "2026-11-08T14:02+01", "2026-11-08 14:02:00", "2026-11-08T14:02",
	} {
		if got, err := ParseTime(text, berlin); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	if got, err := ParseTime("2026-11-08 13:02", nil); err != nil || !got.Equal(want) {
		t.Errorf("without a location: %v, %v", got, err)
	}
	for _, text := range []string{"", "2026-11-08", "14:02", "20261108", "1794142920000", "2026-11-08T25:00", "08.11.2026 14:02", "2026-11-08T14:02 CET"} {
		if got, err := ParseTime(text, berlin); err == nil || !strings.Contains(err.Error(), "is not a time") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 2.5: "2.5s", 90: "90s", 119.96: "120s", 120: "2m", 270.4: "4m30s", 3600: "1h", 7500: "2h5m", 7501: "2h5m1s", 36000: "10h",
	} {
		if got := duration(seconds); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}
