package watch

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden file")

// TestTexts compares the two sentences of decisions with a golden file: one for each reason of a limit and each gate.
func TestTexts(t *testing.T) {
	const levels, steps = 2, 5 // windows of 30 minutes and of 8
	var out strings.Builder
	for _, tt := range []struct {
		name   string
		window int
		rise   float64
		limit  limit
	}{
		{"moves", levels, 1.9, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}},
		{"the least that pages", levels, 1.9, limit{Value: math.Log(1.46), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1)}},
		{"always", levels, 2.1, limit{Value: math.Ln2, Least: math.Log(1.46), Days: 28, Move: math.Log(2.2), Always: math.Ln2}},
		{"expected", levels, 2.6, limit{Value: math.Log(1.46) + math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1), Expected: math.Log(1.7)}},
		{"young", steps, 2.6, limit{Value: math.Log(2.3), Least: math.Log(1.46)}},
		{"a step", steps, 2, limit{Value: math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.55)}},
		{"below the limit", levels, 1.4, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}},
		{"below what is expected", levels, 1.8, limit{Value: math.Log(1.46) + math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1), Expected: math.Log(1.7)}},
		{"up for a short time", levels, 1.7, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}},
		{"nothing", -1, 1, limit{}},
	} {
		var m minutes
		last := minuteOf(monday.Add(day + 14*time.Hour + 30*time.Minute))
		for at := last - 20; at <= last; at++ {
			m.put(at, 10, 0.5, 0)
		}
		var w window
		if tt.window >= 0 {
			w = windows()[tt.window]
		}
		d := m.decide(w, tt.limit, math.Log(tt.rise))
		if tt.name == "up for a short time" {
			d.needMinutes(30 * time.Minute)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		fmt.Fprintf(&out, "%s, score %.2f\n", tt.name, d.Score)
		for _, g := range d.Gates {
			fmt.Fprintf(&out, "  %-9s %6.2f of %5.2f %v\n", g.Name, g.Value, g.Limit, g.Holds)
		}
		fmt.Fprintf(&out, "  %s\n", d.Why(nil))
	}
	const golden = "testdata/decisions.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the decisions read\n%s\nwant\n%s", out.String(), want)
	}
	if got := (&Decision{}).Why(nil); got != "" {
		t.Errorf("no decision says %q", got)
	}
	zone := time.FixedZone("east", 3600)
	d := Decision{Minute: minuteOf(monday.Add(23*time.Hour + 30*time.Minute)), WindowMinutes: 8, Gates: []Gate{{GateRise, 2, 1.5, true}}}
	if got := d.Why(zone); !strings.Contains(got, "on a Tuesday at 00:30") || !strings.Contains(got, "reached at 00:30") {
		t.Errorf("in another zone: %q", got)
	}
}
