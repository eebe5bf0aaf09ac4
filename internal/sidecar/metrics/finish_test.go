package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
)

// TestFinishLabels: unknown finish reasons are counted by their names, which a server cannot make many or long.
func TestFinishLabels(t *testing.T) {
	j := newJob(probe.Key{}, &bound.Peak{})
	for i := range 100 {
		for _, reason := range []string{"stop", "", "other", fmt.Sprintf("odd%d", i), strings.Repeat("x", 500)} {
			j.turnEnded(&probe.Result{Kind: probe.First, Texts: probe.Texts{FinishReason: reason}}, time.Now())
		}
	}
	if n := len(j.finished); n != len(probe.FinishReasons())+maxReasons+1 { // and those beyond
		t.Errorf("%d values of the label: %v", n, j.finished)
	}
	if j.finished["stop"] != 100 || j.finished["odd7"] != 1 || j.finished["other"] != 100 || j.finished["others"] != 92 || j.finished[strings.Repeat("x", maxReason)] != 100 {
		t.Errorf("%v", j.finished)
	}
}
