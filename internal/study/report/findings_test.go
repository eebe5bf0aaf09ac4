package report

import (
	"testing"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// TestFindingsSayWhatIsProven: a level that a few good turns meet is not presented as the
// capacity.
func TestFindingsSayWhatIsProven(t *testing.T) {
	level := func(v float64) *float64 { return &v }
	const seen = "kv meets TTFT p99 < 1000ms up to concurrency 4"
	for name, tt := range map[string]struct {
		proven []runfile.Capacity
		want   string
	}{
		"as much as was seen": {[]runfile.Capacity{{Variant: "kv", Level: level(4), Wanted: 0.95}}, seen + "."},
		"less":                {[]runfile.Capacity{{Variant: "kv", Level: level(2), Wanted: 0.95}}, seen + " in this measurement; it is proven up to 2 with a confidence of 95%."},
		"nothing":             {[]runfile.Capacity{{Variant: "kv", Wanted: 0.99}}, seen + " in this measurement; no concurrency is proven with a confidence of 99%."},
		"of another variant":  {[]runfile.Capacity{{Variant: "rr", Wanted: 0.95}}, seen + "."},
		"nobody asked":        {nil, seen + "."},
	} {
		t.Run(name, func(t *testing.T) {
			b := builder{s: &figures.Study{Capacities: tt.proven, Objectives: []figures.Objective{{Label: "TTFT", Share: 99, Threshold: 1000}}}}
			c := Compliance{Series: "kv", Judged: true, Highest: 4}
			if got := b.finding(c); got != tt.want {
				t.Errorf("finding %q, want %q", got, tt.want)
			}
		})
	}
	counted := func(at float64, lost ...string) figures.Level {
		return figures.Level{At: at, Verdict: &runfile.LevelVerdict{Standing: runfile.Undecided, Met: lost == nil, Lost: lost}}
	}
	objectives := []figures.Objective{{Name: "ttft", Label: "TTFT", Share: 99, Threshold: 1000}}
	c := comply(objectives, figures.Series{Name: "kv", Levels: []figures.Level{counted(1, "ttft"), counted(2), counted(4)}})
	b := builder{s: &figures.Study{Objectives: objectives}}
	want := "kv is proven to meet TTFT p99 < 1000ms at no concurrency that was measured; it seems to at 2, 4: measure for longer."
	if got := b.finding(c); got != want {
		t.Errorf("finding %q, want %q", got, want)
	}
	if got, want := b.capacityUndecided(c, c), "Capacity does not decide: neither is proven to meet the SLOs at any concurrency; measure for longer."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
