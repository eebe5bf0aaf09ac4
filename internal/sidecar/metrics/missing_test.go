package metrics

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestMissing: a series of misses lasts from the start of its first turn to that of its last one, until enough good turns
// have followed. Consecutive failures belong to it only if they were no outage.
func TestMissing(t *testing.T) {
	const good, slow, refused, busy = 'g', 's', 'r', 'b'
	for name, tc := range map[string]struct {
		turns string // one every five seconds
		want  float64
	}{
		"two misses":                         {"ss", 0},
		"a short series":                     {"sssssss", 0.5},
		"a series":                           {"sssssssss", 1},
		"half of the turns":                  {"sgsgsgsgsg", 1},
		"single misses":                      {"sggggggggggsggggggggggsgggggggggg", 0},
		"six good turns":                     {"sssssssssgggggg", 1},
		"over":                               {"sssssssssgggggggg", 0},
		"an outage":                          {"rrrrrrrrrrrr", 0.5},
		"after an outage":                    {"rrrrrrrrrrrrg", 0},
		"refused for load after an outage":   {"rrrrrrrrrrrrgbbbbbbbbb", 1},
		"some refusals for load, or a stall": {"rrrrbbbbg", 0.5},
		"failures now and then":              {"rrgrrgrrgrrg", 1},
	} {
		var m missing
		for i, turn := range tc.turns {
			r := probe.Result{Outcome: probe.Success, Sent: time.Unix(int64(5*i), 0)}
			switch turn {
			case refused:
				r.Outcome = probe.ConnectError
			case busy:
				r.Outcome = probe.HTTP429
			case good, slow:
			}
			m.add(&r, turn != good)
		}
		if got := m.value(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestMissingSince: a fault of a part of the turns began with its first miss, also if some good turns in a row came in
// between, and is forgotten after many of them.
func TestMissingSince(t *testing.T) {
	const fault = "sggsgsggsgsgsg"
	for turns, want := range map[string]int{
		"gg" + fault: 2, "ss": -1,
		"gg" + fault + strings.Repeat("g", 10) + fault: 2,
		"gg" + fault + strings.Repeat("g", 28):         2,
		"gg" + fault + strings.Repeat("g", 30):         -1,
		fault + strings.Repeat("g", 40) + fault:        len(fault) + 40,
	} {
		var m missing
		start := time.Unix(1_000_000, 0)
		for i, turn := range turns {
			m.add(&probe.Result{Outcome: probe.Success, Sent: start.Add(time.Duration(5*i) * time.Second)}, turn == 's')
		}
		if at := start.Add(time.Duration(5*want) * time.Second); want < 0 && !m.began.IsZero() || want >= 0 && !m.began.Equal(at) {
			t.Errorf("%s began at %v, want turn %d", turns, m.began, want)
		}
	}
}
