package metrics

import (
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
