package runfile

import (
	"strings"
	"testing"

	"synthetic/internal/probe"
)

// TestLimit: too many of 1,000 turns.
func TestLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		notJudged, unsent uint64
		want              string
	}{
		"well":           {0, 0, ""},
		"a few turns":    {6, 4, ""},
		"turns too late": {11, 0, "too late for an SLO, or could not send, in 11 of 1000 turns"},
		"turns not sent": {0, 20, "too late for an SLO, or could not send, in 20 of 1020 turns"},
	} {
		b := Block{Outcomes: map[probe.Outcome]uint64{probe.Success: 1000, probe.NotSent: tt.unsent}, NotJudged: tt.notJudged}
		r := Result{Snapshots: []Snapshot{{Blocks: []Block{b}}}}
		got := r.Limit()
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") || r.Spoiled() != (tt.want != "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got != "" && !strings.HasSuffix(got, "give it more CPU") {
			t.Errorf("%s: %q has no remedy", name, got)
		}
	}
}
