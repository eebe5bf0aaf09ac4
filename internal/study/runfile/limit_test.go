package runfile

import (
	"strings"
	"testing"

	"synthetic/internal/probe"
)

// TestLimit: too many of 1,000 turns, or too much of the time.
func TestLimit(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	for name, tt := range map[string]struct {
		throttled         *float64
		notJudged, unsent uint64
		want              string
	}{
		"well":                 {nil, 0, 0, ""},
		"a few turns":          {share(0), 6, 4, ""},
		"turns too late":       {share(0), 11, 0, "too late for an SLO, or could not send, in 11 of 1000 turns"},
		"turns not sent":       {nil, 0, 20, "too late for an SLO, or could not send, in 20 of 1020 turns"},
		"throttled a little":   {share(0.05), 0, 0, ""},
		"throttled":            {share(0.123), 0, 0, "the CPU limit of its cgroup kept the prober from running for 12% of the time"},
		"throttled, and later": {share(0.5), 500, 0, "for 50% of the time"},
	} {
		b := Block{Outcomes: map[probe.Outcome]uint64{probe.Success: 1000, probe.NotSent: tt.unsent}, NotJudged: tt.notJudged}
		r := Result{Throttled: tt.throttled, Snapshots: []Snapshot{{Blocks: []Block{b}}}}
		got := r.Limit()
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") || r.Spoiled() != (tt.want != "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got != "" && !strings.HasSuffix(got, "give it more CPU") {
			t.Errorf("%s: %q has no remedy", name, got)
		}
	}
}
