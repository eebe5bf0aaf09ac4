package gate

import (
	"fmt"
	"strings"
	"testing"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
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
		"ntpot_sd@50>1ms":            "ntpot_sd_ms 50 > 1 false",
		"itl_mean>1ms":               "itl_mean_ms 0 > 1 false",
		"ttft_max>baseline*2":        "ttft_max_ms 0 > 2 true",
		"error>1":                    "error_pct 0 > 1 false",
		"goodput<3.5":                "goodput_per_s 0 < 3.5 false",
		"ttft_followup_p50>200ms":    "ttft_followup_p50_ms 0 > 200 false",
		"ttft_p95_with_failures>10s": "ttft_p95_with_failures_ms 0 > 10000 false",
	} {
		all, err := Parse(text)
		if err != nil || len(all) != 1 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		c := all[0]
		if got := fmt.Sprintf("%s %g %s %g %v", c.Figure(), c.At, c.Op, c.Value, c.Baseline); got != want {
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
		"ttft_p99>fast":           `"fast" is no value: want a number with a unit`,
		"error_pct>1s":            `error_pct is no time: leave "s" out`,
		"capacity<1s":             `capacity is no time`,
		"capacity@5<1":            `"5" is no level`,
		"tpot_p95@0>1ms":          `"0" is no level`,
		"tpot_p95@1.2.3>1ms":      `"1.2.3" is no level`,
		"capacity<baseline*0":     `"0" is no factor`,
		"capacity<baseline+1":     `"baseline+1" is no value`,
		"ttft_p99>1s,tops<-4":     `condition 2, "tops<-4": "-4" is no value`,
		"ttft_p99>1s;tpot_p99>1s": `"1s;tpot_p99>1s" is no value`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestObjective(t *testing.T) {
	o, err := Objective("answer_ttft_p95<=1.5s")
	if err != nil || o.Metric() != "answer_ttft_p95_ms" || o.Label != "ANSWER TTFT" || o.Threshold != 1500 || o.Share != 95 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{"ttft_p99>1s", "tops<5", "ttft_p99@5<1s", "ttft_p99<baseline", "nonsense"} {
		if _, err := Objective(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// slower is a baseline of which the second variant is slower.
func slower() *figures.Study {
	return figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{
		Seed: 1, Levels: []float64{40, 80, 100}, Variants: []reporttest.Variant{{Name: "main", Slowdown: 1}, {Name: "branch", Slowdown: 1.8}},
	})})
}

func TestCheck(t *testing.T) {
	s := slower()
	for _, tt := range []struct {
		text            string
		failed, unknown bool
		detail          string
	}{
		{"capacity<baseline*0.9", true, false, "capacity 40, limit 90"},
		{"capacity<baseline*0.3", false, false, "capacity 40, limit 30"},
		{"ttft_p50>800ms", true, false, "at concurrency 100, limit 800ms"},
		{"ttft_p50@40>800ms", false, false, "at concurrency 40, limit 800ms"},
		{"ttft_p50>baseline*1.7", true, false, ", limit "},
		{"ttft_p50>baseline*2", false, false, ", limit "},
		{"tops<baseline*0.4", false, false, ", limit "},
		{"ttft_p50@70>1s", true, true, "no level has the figure"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			conditions, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			all := Check(s, conditions)
			if len(all) != 1 || all[0].Series != "branch" {
				t.Fatalf("%d outcomes: %+v", len(all), all)
			}
			if o := all[0]; o.Failed != tt.failed || o.Unknown != tt.unknown || !strings.Contains(o.Detail, tt.detail) {
				t.Errorf("failed %v, unknown %v, %q; want %v, %v, %q", o.Failed, o.Unknown, o.Detail, tt.failed, tt.unknown, tt.detail)
			}
		})
	}
}

// TestStoppedBaseline: a baseline that was stopped below the level at which the
// other fails says nothing of its capacity; above it, it does.
func TestStoppedBaseline(t *testing.T) {
	for levels, unknown := range map[int]bool{1: true, 2: false} {
		s := slower()
		s.Series[0].Levels = s.Series[0].Levels[:levels]
		conditions, err := Parse("capacity<baseline*0.3")
		if err != nil {
			t.Fatal(err)
		}
		if o := Check(s, conditions)[0]; o.Unknown != unknown || o.Failed != unknown {
			t.Errorf("baseline of %d levels: %+v", levels, o)
		}
	}
}

// TestUnknownLevelsAreNamed: a gate that opens says which levels it did not see.
func TestUnknownLevelsAreNamed(t *testing.T) {
	s := slower()
	delete(s.Series[1].Levels[2].Figures, figures.TTFTP50)
	conditions, err := Parse("ttft_p50>10s,ttft_p50>baseline*9")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Check(s, conditions) {
		if o.Failed || !strings.HasSuffix(o.Detail, "; not known at 100") {
			t.Errorf("%s: failed %v, %q", o.Text, o.Failed, o.Detail)
		}
	}
}

func TestAloneThereIsNoBaseline(t *testing.T) {
	s := figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}})})
	conditions, err := Parse("capacity<baseline,ttft_p99>1s,tops<baseline")
	if err != nil {
		t.Fatal(err)
	}
	all := Check(s, conditions)
	if !all[0].Unknown || all[1].Failed || !all[2].Unknown || !Failed(all) {
		t.Errorf("%+v", all)
	}
}

func TestMarkdown(t *testing.T) {
	s := slower()
	conditions, err := Parse("capacity<baseline*0.9,error_pct>5%")
	if err != nil {
		t.Fatal(err)
	}
	text := Markdown(s, Check(s, conditions))
	for _, want := range []string{"### Performance gate **failed**", "| ❌ | `capacity<baseline*0.9` | branch | capacity 40, limit 90 |", "| ✅ | `error_pct>5%` | branch |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 12 {
		t.Errorf("the summary has %d lines: too long for a pull request", n)
	}
}
