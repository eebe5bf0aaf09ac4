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
	usual := func(s *signal) {
		s.usual.learned, s.limits.moves.Days = 400, 28
		s.Rise.Since = s.minute - 20
	}
	var out strings.Builder
	for _, tt := range []struct {
		name   string
		window int
		rise   float64
		limit  limit
		change func(*signal)
		bound  float64
	}{
		{"moves", levels, 1.9, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}, nil, math.Inf(1)},
		{"the least that pages", levels, 1.9, limit{Value: math.Log(1.46), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1)}, nil, math.Inf(1)},
		{"always", levels, 2.1, limit{Value: math.Ln2, Least: math.Log(1.46), Days: 28, Move: math.Log(2.2), Always: math.Ln2}, nil, math.Log(2.4)},
		{"expected", levels, 2.6, limit{Value: math.Log(1.46) + math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1), Expected: math.Log(1.7)}, nil, math.Inf(1)},
		{"young", steps, 2.6, limit{Value: math.Log(2.3), Least: math.Log(1.46)}, func(s *signal) { s.limits.moves.Days = 0 }, math.Inf(1)},
		{"a step", steps, 2, limit{Value: math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.55)}, nil, math.Inf(1)},
		{"below the limit", levels, 1.4, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}, nil, math.Inf(1)},
		{"below what is expected", levels, 1.8, limit{Value: math.Log(1.46) + math.Log(1.7), Least: math.Log(1.46), Days: 28, Move: math.Log(1.1), Expected: math.Log(1.7)}, nil, math.Inf(1)},
		{"up for a short time", levels, 1.7, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}, func(s *signal) { s.Rise.Since = s.minute - 2 }, math.Inf(1)},
		{"a part of the turns", levels, 1.9, limit{Value: math.Log(1.56), Least: math.Log(1.46), Days: 28, Move: math.Log(1.45)}, nil, math.Log(1.1)},
		{"nothing", -1, 1, limit{}, nil, math.Inf(1)},
	} {
		s := signal{minute: minuteOf(monday.Add(day + 14*time.Hour + 30*time.Minute))}
		usual(&s)
		if tt.change != nil {
			tt.change(&s)
		}
		for m := s.minute - 20; m <= s.minute; m++ {
			s.minutes.put(m, sampleOf(10, 0.5, 0.5, 0))
		}
		f := found{limit: tt.limit}
		if tt.window >= 0 {
			f.window, f.rise, f.Score = windows()[tt.window], math.Log(tt.rise), math.Log(tt.rise)/tt.limit.Value
		}
		d := s.decide(f, 5*time.Minute, tt.bound)
		if _, err := json.Marshal(d); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		text := d.NotYet(nil)
		if d.Holds() {
			text = d.Why(nil)
		}
		fmt.Fprintf(&out, "%s, score %.2f\n", tt.name, d.Score)
		for _, g := range d.Gates {
			fmt.Fprintf(&out, "  %-9s %6.2f of %5.2f %v\n", g.Name, g.Value, g.Limit, g.Holds)
		}
		fmt.Fprintf(&out, "  %s\n", text)
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
	if got := (&Decision{}).NotYet(nil); got != "" {
		t.Errorf("no decision says %q", got)
	}
	zone := time.FixedZone("east", 3600)
	d := Decision{Minute: minuteOf(monday.Add(23*time.Hour + 30*time.Minute)), WindowMinutes: 8, Gates: []Gate{{GateRise, 2, 1.5, true}}}
	if got := d.Why(zone); !strings.Contains(got, "on a Tuesday at 00:30") || !strings.Contains(got, "reached at 00:30") {
		t.Errorf("in another zone: %q", got)
	}
}
