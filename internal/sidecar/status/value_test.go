package status

import (
	"encoding/json"
	"testing"
	"time"

	"synthetic/internal/probe"
)

func TestNearestRank(t *testing.T) {
	upTo := func(n int) (all []time.Duration) {
		for i := n; i > 0; i-- { // not sorted
			all = append(all, time.Duration(i))
		}
		return all
	}
	for _, c := range []struct {
		n             int
		p50, p95, p99 time.Duration
	}{
		{1, 1, 1, 1},
		{2, 1, 2, 2},
		{3, 2, 3, 3},
		{19, 10, 19, 19},
		{20, 10, 19, 20},
		{100, 50, 95, 99},
		{101, 51, 96, 100},
		{200, 100, 190, 198},
		{1000, 500, 950, 990},
	} {
		got := quantilesOf(upTo(c.n))
		want := quantiles{c.n, Duration(probe.Some(c.p50)), Duration(probe.Some(c.p95)), Duration(probe.Some(c.p99))}
		if got != want {
			t.Errorf("of 1…%d: %+v, want %+v", c.n, got, want)
		}
	}
}

func TestNoSamplesAreNotZero(t *testing.T) {
	q := quantilesOf(nil)
	if q.P50.OK || q.P50.String() != "n/a" {
		t.Errorf("p50 of nothing is %q", q.P50)
	}
	b, err := json.Marshal(q)
	if want := `{"count":0,"p50_seconds":null,"p95_seconds":null,"p99_seconds":null}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v; want %s", b, err, want)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]struct{ text, json string }{
		0:                        {"0 µs", "0"},
		812 * time.Microsecond:   {"812 µs", "0.000812"},
		1500 * time.Microsecond:  {"1.5 ms", "0.0015"},
		182 * time.Millisecond:   {"182 ms", "0.182"},
		1234 * time.Millisecond:  {"1.23 s", "1.234"},
		47900 * time.Millisecond: {"47.9 s", "47.9"},
		15 * time.Minute:         {"15 min", "900"},
		30 * time.Hour:           {"30 h", "108000"},
		-2 * time.Millisecond:    {"-2.0 ms", "-0.002"},
		infinite:                 {"∞", `"+Inf"`},
	} {
		v := Duration(probe.Some(d))
		b, err := json.Marshal(v)
		if v.String() != want.text || err != nil || string(b) != want.json {
			t.Errorf("%d ns: %q, %s, %v; want %q, %s", d, v, b, err, want.text, want.json)
		}
	}
}

func TestRatios(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		want        string
	}{
		{0, 0, "n/a"},
		{0, 7, "0 %"},
		{7, 7, "100 %"},
		{1, 20, "5 %"},
		{1, 3, "33 %"},
		{1, 3000, "0.03 %"},
		{99_999, 100_000, "99.999 %"},
		{999, 1000, "99.9 %"},
	} {
		if got := shareOf(c.part, c.whole).String(); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.part, c.whole, got, c.want)
		}
	}
	if b, err := json.Marshal(shareOf(0, 0)); err != nil || string(b) != "null" {
		t.Errorf("an unknown ratio in JSON: %s, %v", b, err)
	}
}
