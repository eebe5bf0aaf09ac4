package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"ttft_p99>1s":                "ttft_p99_ms 0 > 1000 false",
		"ttft_p99_ms > 250ms":        "ttft_p99_ms 0 > 250 false",
		"tpot_p95@100>=60ms":         "tpot_p95_ms 100 >= 60 false",
		"latency_p50<=1.5m":          "latency_p50_ms 0 <= 90000 false",
		"capacity<baseline*0.9":      "capacity 0 < 0.9 true",
		"capacity<120":               "capacity 0 < 120 false",
		"ttft_p50>baseline * 1.1":    "ttft_p50_ms 0 > 1.1 true",
		"tops<baseline":              "tops 0 < 1 true",
		"error_pct>0.5%":             "error_pct 0 > 0.5 false",
		"ttft_p99.9>1s":              "ttft_p99.9_ms 0 > 1000 false",
		"ntpot_min@50>1ms":           "ntpot_min_ms 50 > 1 false",
		"itl_mean>1ms":               "itl_mean_ms 0 > 1 false",
		"ttft_max>baseline*2":        "ttft_max_ms 0 > 2 true",
		"error>1":                    "error_pct 0 > 1 false",
		"goodput<3.5":                "goodput_per_s 0 < 3.5 false",
		"ttft_followup_p50>200ms":    "ttft_followup_p50_ms 0 > 200 false",
		"ttft_p95_with_failures>10s": "ttft_p95_with_failures_ms 0 > 10000 false",
	} {
		all, err := ParseConditions(text)
		if err != nil || len(all) != 1 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		c := all[0]
		if got := fmt.Sprintf("%s %g %s %g %v", cmp.Or(c.Metric.Key(), capacityKey), c.At, c.Op, c.Value, c.Baseline); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                        `condition 1, "": want FIGURE[@LEVEL] OPERATOR VALUE`,
		"ttft_p99>1s,":            `condition 2, "": want FIGURE`,
		"ttft_p99":                "want FIGURE[@LEVEL] OPERATOR VALUE",
		"ttft_p99=1s":             "operators are >, >=, < and <=",
		"speed>1s":                `there is no figure "speed": want "capacity" or one of `,
		"ttft_p99>1":              "ttft_p99_ms is a time: give a unit (ms, s or m)",
		"ttft_p99>5%":             "ttft_p99_ms is a time",
		"ttft_p99>fast":           `"fast" is not a value: want a number with a unit`,
		"error_pct>1s":            `error_pct is not a time: remove "s"`,
		"capacity<1s":             `capacity is not a time`,
		"capacity@5<1":            `"5" is not a level`,
		"tpot_p95@0>1ms":          `"0" is not a level`,
		"tpot_p95@1.2.3>1ms":      `"1.2.3" is not a level`,
		"capacity<baseline*0":     `"0" is not a factor`,
		"capacity<baseline+1":     `"baseline+1" is not a value`,
		"ttft_p99>1s,tops<-4":     `condition 2, "tops<-4": "-4" is not a value`,
		"ttft_p99>1s;tpot_p99>1s": `"1s;tpot_p99>1s" is not a value`,
	} {
		if _, err := ParseConditions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// slower returns a study whose second variant is slower than the baseline.
func slower() *Study { return FromRun(slowerRun()) }

var slowerRun = sync.OnceValue(func() *runs.Run {
	return reporttest.Run(reporttest.Options{
		Seed: 1, Levels: []float64{40, 80, 100}, Variants: []reporttest.Variant{{Name: "main", Slowdown: 1}, {Name: "branch", Slowdown: 1.8}},
	})
})

func TestCheck(t *testing.T) {
	s := slower()
	for _, tt := range []struct {
		text   string
		want   GateResult
		detail string
	}{
		{"capacity<baseline*0.9", GateFailed, "capacity: concurrency 40 (concurrency 80 fails). Limit: 0.9 × the baseline's capacity, which is concurrency 80 (concurrency 100 undecided)"},
		{"capacity<baseline*0.3", gatePassed, "capacity: concurrency 40 (concurrency 80 fails). Limit: 0.3 × the baseline's capacity, which is concurrency 80 (concurrency 100 undecided)"},
		{"ttft_p50>800ms", GateFailed, "at concurrency 100, limit 800ms"},
		{"ttft_p50@40>800ms", gatePassed, "at concurrency 40, limit 800ms"},
		{"ttft_p50>baseline*1.7", GateFailed, ", limit "},
		{"ttft_p50>baseline*2", gatePassed, ", limit "},
		{"ttft_p50>baseline*1.8", GateInconclusive, "within noise: measure longer"},
		{"tops<baseline*0.4", gatePassed, ", limit "},
		{"ttft_p50@70>1s", GateInconclusive, "no such level was measured"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if o := only(t, s, tt.text); o.Series != "branch" || o.Result != tt.want || !strings.Contains(o.Detail, tt.detail) {
				t.Errorf("%s: %d, %q; want %d, %q", o.Series, o.Result, o.Detail, tt.want, tt.detail)
			}
		})
	}
}

// only returns the outcome of one condition.
func only(t *testing.T, s *Study, text string) conditionOutcome {
	t.Helper()
	conditions, err := ParseConditions(text)
	if err != nil {
		t.Fatal(err)
	}
	all := checkConditions(s, conditions)
	if len(all) != 1 {
		t.Fatalf("%d outcomes: %+v", len(all), all)
	}
	return all[0]
}

// TestGateBetween: the ranges of value and limit decide whether a condition is true, false or inconclusive.
func TestGateBetween(t *testing.T) {
	for _, tt := range []struct {
		op                     string
		low, high, least, most float64
		want                   GateResult
	}{
		{">", 9, 11, 8, 8, GateFailed}, {">", 9, 11, 10, 10, GateInconclusive}, {">", 9, 11, 11, 11, gatePassed}, {">=", 9, 11, 11, 11, GateInconclusive},
		{"<", 9, 11, 12, 12, GateFailed}, {"<", 9, 11, 10, 10, GateInconclusive}, {"<", 9, 11, 9, 9, gatePassed}, {"<=", 9, 11, 9, 9, GateInconclusive},
		{"<", 40, math.Inf(1), 40, 40, gatePassed}, {"<", 40, math.Inf(1), 50, 50, GateInconclusive},
		{">", 9, 11, 8, 10, GateInconclusive}, {"<", 9, 11, 10, 12, GateInconclusive}, {"<", 9, 11, 12, 14, GateFailed},
	} {
		o := conditionOutcome{Condition: Condition{Op: tt.op}}
		if got := o.compareRanges(tt.low, tt.high, tt.least, tt.most); got != tt.want {
			t.Errorf("%g to %g %s %g to %g: %d, want %d", tt.low, tt.high, tt.op, tt.least, tt.most, got, tt.want)
		}
	}
}

// TestStoppedBaseline: the capacity of a baseline that was stopped is unknown up to the level
// that the other series fails, and known above it.
func TestStoppedBaseline(t *testing.T) {
	for levels, want := range map[int]GateResult{1: GateInconclusive, 2: gatePassed} {
		s := slower()
		s.Series[0].Levels = s.Series[0].Levels[:levels]
		if o := only(t, s, "capacity<baseline*0.3"); o.Result != want {
			t.Errorf("baseline of %d levels: %+v", levels, o)
		}
	}
}

// A level that lacks the figure, or was not reached, prevents a pass,
// unless the condition is about other levels. A failure at another level still counts.
func TestWhatIsNotSeenPassesNothing(t *testing.T) {
	whole := slower()
	for name, tt := range map[string]struct {
		change func(l *Level)
		why    string
	}{
		"no figure":   {func(l *Level) { delete(l.Figures, TTFTP50) }, "the figure has too few turns, or is unknown"},
		"not reached": {func(l *Level) { l.NotReached = "11.4 of 100 were in flight" }, "not reached: 11.4 of 100"},
	} {
		t.Run(name, func(t *testing.T) {
			s := changed(whole, 1, tt.change)
			for text, want := range map[string]GateResult{
				"ttft_p50>10s": GateInconclusive, "ttft_p50>baseline*9": GateInconclusive, "ttft_p50@80>10s": gatePassed, "ttft_p50>1ms": GateFailed,
			} {
				o := only(t, s, text)
				if o.Result != want || want == GateInconclusive && !(strings.Contains(o.Detail, "; nothing is concluded at concurrency 100: ") && strings.Contains(o.Detail, tt.why)) {
					t.Errorf("%s: %d, %q; want %d", text, o.Result, o.Detail, want)
				}
			}
			s.Interrupted = "by a signal"
			if o := only(t, s, "ttft_p50@80>10s"); o.Result != gatePassed {
				t.Errorf("of a level that was measured: %+v", o)
			}
			s = changed(whole, 0, tt.change) // in the baseline too
			if o := only(t, s, "ttft_p50>baseline*9"); o.Result != GateInconclusive || !strings.Contains(o.Detail, "baseline") {
				t.Errorf("of the baseline: %+v", o)
			}
		})
	}
}

func TestInterruptedSweepPassesNothing(t *testing.T) {
	s := slower()
	s.Interrupted = "by a signal"
	if o := only(t, s, "ttft_p50>10s"); o.Result != GateInconclusive || !strings.Contains(o.Detail, "did not finish, so levels may be missing: by a signal") {
		t.Errorf("%+v", o)
	}
}

// changed returns the study with a change of the third level of a series.
func changed(s *Study, series int, change func(*Level)) *Study {
	copied := *s
	copied.Series = slices.Clone(s.Series)
	copied.Series[series].Levels = slices.Clone(s.Series[series].Levels)
	l := &copied.Series[series].Levels[2]
	l.Figures = maps.Clone(l.Figures)
	change(l)
	return &copied
}

// TestNoErrorsAreNoMoreThanNone: a ratio to 0 has no interval.
func TestNoErrorsAreNoMoreThanNone(t *testing.T) {
	if o := only(t, slower(), "error_pct>baseline*1.5"); o.Result != gatePassed {
		t.Errorf("%+v", o)
	}
}

func TestAloneThereIsNoBaseline(t *testing.T) {
	s := FromRun(reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}}))
	conditions, err := ParseConditions("capacity<baseline,ttft_p99>1s,tops<baseline")
	if err != nil {
		t.Fatal(err)
	}
	all := checkConditions(s, conditions)
	if all[0].Result != GateInconclusive || all[1].Result != gatePassed || all[2].Result != GateInconclusive {
		t.Errorf("%+v", all)
	}
	together, _ := CheckGate(s, conditions)
	passed, _ := CheckGate(s, conditions[1:2])
	none, _ := CheckGate(s, nil)
	if together != GateInconclusive || passed != gatePassed || none != GateInconclusive {
		t.Errorf("together %d, the second alone %d, none %d", together, passed, none)
	}
}

func TestMarkdown(t *testing.T) {
	s := slower()
	conditions, err := ParseConditions("capacity<baseline*0.9,error_pct>5%,ttft_p50@7>1s")
	if err != nil {
		t.Fatal(err)
	}
	_, text := CheckGate(s, conditions)
	for _, want := range []string{"### Performance gate **failed**", "| ❌ | `capacity<baseline*0.9` | branch | capacity: concurrency 40 (concurrency 80 fails). Limit: 0.9 × the baseline's capacity, which is concurrency 80 (concurrency 100 undecided) |", "| ✅ | `error_pct>5%` | branch |", "| ❔ | `ttft_p50@7>1s` | branch |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 12 {
		t.Errorf("the summary has %d lines: too long for a pull request", n)
	}
}
