package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// level makes a level of exact figures.
func level(at float64, values map[Metric]float64) Level {
	l := Level{At: at, Figures: map[Metric]Figure{}}
	for m, v := range values {
		l.Figures[m] = Plain(v)
	}
	return l
}

// series makes levels 10, 20, 30 … with one figure each.
func series(m Metric, values ...float64) Series {
	s := Series{Name: "a"}
	for i, v := range values {
		s.Levels = append(s.Levels, level(float64(10*(i+1)), map[Metric]float64{m: v}))
	}
	return s
}

func slos() []slo.Objective {
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99},
	}
}

func TestJudge(t *testing.T) {
	between := func(v, low, high float64) Figure {
		return Figure{Value: v, Low: low, High: high, N: 1000}
	}
	for _, tt := range []struct {
		name, want string
		level      Level
	}{
		{"both met", "PASS", level(1, map[Metric]float64{TTFTP99: 900, TPOTP99: 50})},
		{"at the threshold", "PASS", level(1, map[Metric]float64{TTFTP99: 1000, TPOTP99: 60})},
		{"TTFT", "FAIL (TTFT)", level(1, map[Metric]float64{TTFTP99: 1001, TPOTP99: 50})},
		{"TPOT", "FAIL (TPOT)", level(1, map[Metric]float64{TTFTP99: 900, TPOTP99: 61})},
		{"both", "FAIL (TTFT+TPOT)", level(1, map[Metric]float64{TTFTP99: 9000, TPOTP99: 61})},
		{"one unknown", "NOT JUDGED (TPOT p99 is unknown)", level(1, map[Metric]float64{TTFTP99: 900})},
		{"one unknown, one missed", "FAIL (TTFT)", level(1, map[Metric]float64{TTFTP99: 9000})},
		{"nothing known", "NOT JUDGED (TTFT p99 is unknown)", level(1, nil)},
		{"more errors than the objective leaves", "FAIL (ERRORS)", level(1, map[Metric]float64{TTFTP99: 900, TPOTP99: 50, ErrorPct: 1.7})},
		{"fewer errors", "PASS", level(1, map[Metric]float64{TTFTP99: 900, TPOTP99: 50, ErrorPct: 0.5})},
		{"one run of three left out", "PASS", Level{Runs: 3, Valid: 2, Figures: map[Metric]Figure{
			TTFTP99: Plain(1), TPOTP99: Plain(1)}}},
		{"two runs of three left out", "FAIL (ERRORS)", Level{Runs: 3, Valid: 1, Figures: map[Metric]Figure{
			TTFTP99: Plain(1), TPOTP99: Plain(1)}}},
		{"given up, no objective missed yet", "FAIL (GIVEN UP)", Level{GivenUp: true, Figures: map[Metric]Figure{
			TTFTP99: Plain(1), TPOTP99: Plain(1)}}},
		{"given up for an objective", "FAIL (TTFT)", Level{GivenUp: true, Verdict: &runs.LevelVerdict{Standing: runs.Missed, Lost: []string{"ttft"}}}},
		{"given up, and seems to fail", "FAIL (TTFT)", Level{GivenUp: true, Figures: map[Metric]Figure{
			TTFTP99: between(1010, 940, 1040), TPOTP99: between(50, 48, 52)}}},
		{"one missed, one seems to be", "FAIL (TTFT+TPOT)", Level{Verdict: &runs.LevelVerdict{Standing: runs.Missed, Lost: []string{"ttft", "tpot"},
			SLOs: []runs.SLOVerdict{{Name: "ttft", Standing: runs.Missed}, {Name: "tpot", Standing: runs.Undecided}}}}},
		{"given up, and nothing lost", "FAIL (GIVEN UP)", Level{GivenUp: true, Verdict: &runs.LevelVerdict{Standing: runs.Missed}}},
		{"counted turns decide, not the quantile", "FAIL (TTFT)", Level{
			Figures: map[Metric]Figure{TTFTP99: between(990, 940, 1040), TPOTP99: Plain(1)},
			Verdict: &runs.LevelVerdict{Standing: runs.Missed, Lost: []string{"ttft"}}}},
		{"counted, and nothing proven", "PASS ~", Level{Verdict: &runs.LevelVerdict{Met: true, Standing: runs.Undecided}}},
		{"counted, nothing proven, and bad", "FAIL (TTFT+TPOT) ~", Level{
			Verdict: &runs.LevelVerdict{Standing: runs.Undecided, Lost: []string{"ttft", "tpot"}}}},
		{"not reached", "NOT JUDGED (not reached)", Level{NotReached: "too little", Verdict: &runs.LevelVerdict{Met: true, Standing: runs.Met}}},
		{"a bad quantile within noise", "FAIL (TTFT) ~", Level{Figures: map[Metric]Figure{
			TTFTP99: between(1010, 940, 1040), TPOTP99: between(50, 48, 52)}}},
		{"a quantile within noise", "PASS ~", Level{Figures: map[Metric]Figure{
			TTFTP99: between(990, 940, 1040), TPOTP99: between(50, 48, 52)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := matrixWords(slos(), tt.level); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
	if v := Judge(nil, level(1, nil)); !v.Unjudged() || v.Measured(nil) != "NOT JUDGED (no SLO)" {
		t.Errorf("without objectives: %s", v.Measured(nil))
	}
}

// Only a proven miss ends a capacity, as in a sweep, and only proven levels are one.
func TestCapacityIsWhatIsProven(t *testing.T) {
	counted := func(s runs.Standing, lost ...string) Level {
		return Level{Verdict: &runs.LevelVerdict{Standing: s, Met: lost == nil, Lost: lost}}
	}
	met, missed := counted(runs.Met), counted(runs.Missed, "ttft")
	seemsMet, seemsMissed := counted(runs.Undecided), counted(runs.Undecided, "ttft")
	tooClose := Level{Verdict: &runs.LevelVerdict{Standing: runs.Undecided, Met: true, SLOs: []runs.SLOVerdict{
		{Name: "ttft", Standing: runs.Undecided, Why: "too close to the limit to decide"}}}}
	late := Level{Verdict: runs.NotJudgedBecause("the prober was the limit")}
	notReached := Level{NotReached: "too little"}
	for _, tt := range []struct {
		name    string
		levels  []Level // 10, 20, …
		between string
	}{
		{"seems to fail", []Level{met, seemsMissed, met, missed}, "concurrency 30 (concurrency 40 fails)"},
		{"spoiled", []Level{met, late, met, missed}, "concurrency 30 (concurrency 40 fails)"},
		{"not reached", []Level{met, notReached, met, missed}, "concurrency 30 (concurrency 40 fails)"},
		{"the top seems to pass", []Level{met, met, seemsMet}, "concurrency 20 (concurrency 30 undecided)"},
		{"the top was not reached", []Level{met, met, notReached}, "at least concurrency 20 (concurrency 30 not judged)"},
		{"not reached below a miss", []Level{met, notReached, missed}, "concurrency 10 (concurrency 20 not judged, concurrency 30 fails)"},
		{"too close to its limit", []Level{met, tooClose, missed}, "concurrency 10 (concurrency 20 undecided, concurrency 30 fails)"},
		{"the lowest is too close to its limit", []Level{tooClose}, "not proven (concurrency 10 undecided)"},
		{"nothing fails", []Level{met, met}, "at least concurrency 20"},
		{"nothing is proven", []Level{seemsMissed, seemsMet, seemsMet}, "not proven (concurrency 10, 20 and 30 undecided)"},
		{"nothing is proven below a miss", []Level{seemsMet, missed}, "not proven (concurrency 10 undecided, concurrency 20 fails)"},
		{"all miss", []Level{missed, missed}, "below concurrency 10"},
		{"the lowest was not judged", []Level{late, missed}, "below concurrency 20"},
		{"too close, then too few turns", []Level{met, tooClose, seemsMet, seemsMet}, "concurrency 10 (concurrency 20, 30 and 40 undecided)"},
		{"too close, then not reached", []Level{met, tooClose, notReached}, "concurrency 10 (concurrency 20 undecided, concurrency 30 not judged)"},
		{"nothing was judged", []Level{late, notReached}, "not known"},
		{"passes above a failure", []Level{met, missed, met, seemsMet}, "concurrency 10 (concurrency 20 fails)"},
	} {
		var series Series
		for i, l := range tt.levels {
			l.At = float64(10 * (i + 1))
			series.Levels = append(series.Levels, l)
		}
		s := &Study{Objectives: slos()[:1], Series: []Series{series}}
		if got := capacityOf(s, series, true).Sentence(s.LevelKind()); got != tt.between {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.between)
		}
	}
}

// TestShiftNeedsAnEnd: a level that the prober distorted is no end of a series.
func TestShiftNeedsAnEnd(t *testing.T) {
	of := func(slow float64, distorted ...float64) Series {
		s := Series{Name: "a"}
		for _, at := range []float64{2, 4, 8, 16} {
			ttft := 200.0
			if at >= slow {
				ttft = 3000
			}
			l := level(at, map[Metric]float64{TTFTP50: ttft, ErrorPct: 0})
			if slices.Contains(distorted, at) {
				l.NotReached = "half of them"
			}
			s.Levels = append(s.Levels, l)
		}
		return s
	}
	for _, tt := range []struct {
		name        string
		base, other Series
		want        string
	}{
		{"a level is distorted", of(16), of(16, 8), ""},
		{"the highest levels are distorted", of(100), of(100, 8, 16), ""},
		{"the baseline is distorted", of(100, 8, 16), of(100), ""},
		{"it is slow earlier", of(16), of(8), "**a reduces the capacity by 50%:** the highest level before errors or a slow TTFT moves from concurrency 8 to concurrency 4."},
		{"it is slow later", of(8), of(16), "**a raises the capacity by 100%:** the highest level before errors or a slow TTFT moves from concurrency 4 to concurrency 8."},
	} {
		s := &Study{Series: []Series{tt.base, tt.other}}
		if got := strings.Join(shifts(s), " "); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestBetween(t *testing.T) {
	tpot := TPOTP50
	tops := OutputTokensPerSecond
	turns := InFlightMax
	for _, tt := range []struct {
		m       Metric
		a, b    float64
		want    string
		improve float64
	}{
		{tpot, 44, 65.1, "+48% worse", -47.95},
		{tpot, 79, 71, "-10% better", 10.13},
		{tpot, 206, 6518.8, "+32x worse", -3064.5},
		{tpot, 6000, 60, "-99% better", 99},
		{tops, 100, 110, "+10% better", 10},
		{tops, 100, 90, "-10% worse", -10},
		{tpot, 50, 50, "0%", 0},
		{tpot, 1000, 1001, "0%", -0.1},
		{turns, 16, 29, "+81%", -81.25},
		{tpot, 0, 5, "n/a", math.NaN()},
		{tpot, math.NaN(), 5, "n/a", math.NaN()},
		{tpot, 5, math.Inf(1), "n/a", math.NaN()},
	} {
		base, other := level(1, map[Metric]float64{tt.m: tt.a}), level(1, map[Metric]float64{tt.m: tt.b})
		if c := compareFigures(tt.m, base, other); c.Known && c.String() != tt.want {
			got := c.String()
			t.Errorf("%s %g → %g: %s, want %s", tt.m, tt.a, tt.b, got, tt.want)
		}
		if c := compareFigures(tt.m, base, other); c.Known && math.Abs(c.improvement()-tt.improve) > 0.01*math.Abs(tt.improve) || c.Known == math.IsNaN(tt.improve) {
			t.Errorf("%s %g → %g improves by %g, want %g", tt.m, tt.a, tt.b, c.improvement(), tt.improve)
		}
	}
}

func TestNoise(t *testing.T) {
	m := TTFTP50
	of := func(v, low, high float64) Level {
		return Level{Figures: map[Metric]Figure{m: {Value: v, Low: low, High: high, N: 500}}}
	}
	for _, tt := range []struct {
		name string
		a, b Level
		want bool
	}{
		{"apart", of(200, 190, 210), of(250, 240, 260), false},
		{"together", of(200, 180, 220), of(205, 185, 225), true},
		// The intervals overlap, but the difference is beyond chance.
		{"overlapping ends", of(200, 190, 210), of(216, 206, 226), false},
		{"no upper end", of(200, 190, math.Inf(1)), of(300, 290, 310), true},
		{"within the only interval", of(200, math.NaN(), math.NaN()), of(201, 190, 210), true},
		{"beyond the only interval", of(201, 190, 210), of(211, math.NaN(), math.NaN()), false},
		{"no interval", of(200, math.NaN(), math.NaN()), of(201, math.NaN(), math.NaN()), false},
	} {
		if got := compareFigures(m, tt.a, tt.b).Noise; got != tt.want {
			t.Errorf("%s: noise %v, want %v", tt.name, got, tt.want)
		}
	}
}

// withRuns gives the first level of a series numbers of runs.
func withRuns(s Series, runs, valid int) Series {
	s.Levels = slices.Clone(s.Levels)
	s.Levels[0].Runs, s.Levels[0].Valid = runs, valid
	return s
}

// TestFindingsClaimNoMore: a rate is flat only if it is so at all levels, a target in conversations is compared with them,
// and bands say what is unknown.
func TestFindingsClaimNoMore(t *testing.T) {
	for want, rates := range map[string][]float64{
		"**The rate stays flat** at 4.00–4.40 turns/s": {4, 4.4, 4.2},
		"": {4, 9, 4.2},
	} {
		if got := flat(&Study{}, series(TurnsPerSecond, rates...)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%v: %q, want %q", rates, got, want)
		}
	}
	if got := strings.Join(keyFindings(&Study{}, series(TPOTP95, 1, 2)), " "); !strings.Contains(got, "Levels that are not called saturated may be,** because the TTFT p50 is unknown") {
		t.Errorf("bands claim too much: %s", got)
	}
	rates, target := series(TurnsPerSecond, 12, 12), 10.0
	for i, l := range rates.Levels {
		l.Figures[LatencyP50] = Plain(900)
		l.Figures[ConversationStartsPerSecond] = Plain(3 + float64(i))
	}
	if got := ratesNote(&Study{TargetRPS: &target, Series: []Series{rates}}); !strings.HasSuffix(got, "The target of 10.0/s is never reached: conversations are long, so concurrency is the limit, not the arrival rate.") {
		t.Errorf("%q", got)
	}
}

func TestSaturation(t *testing.T) {
	s := Series{Name: "a"}
	for i, v := range []struct{ tpot, ttft, errors float64 }{
		{40, 200, 0}, {41, 210, 0}, {60, 300, 0}, {62, 1500, 2}, {62.5, 2000, 8}, {62.2, 3000, 3}, {62.8, 4000, 9}, {62.6, 5000, 20},
	} {
		s.Levels = append(s.Levels, level(float64(10*(i+1)), map[Metric]float64{
			TPOTP50: v.tpot, TPOTP95: v.tpot, TTFTP50: v.ttft, ErrorPct: v.errors}))
	}
	got := saturate(s)
	for name, ok := range map[string]bool{
		"first errors":   got.FirstErrors == foundPoint{40, 2, true},
		"sustained":      got.Sustained.At == 50 && fmt.Sprint(got.Dips) == "[60]",
		"slow TTFT":      got.SlowTTFT == foundPoint{40, 1500, true},
		"largest step":   got.From == 20 && got.Step.At == 30 && math.Round(got.Step.Value) == 46,
		"plateau":        got.Plateau.Found && got.Plateau.At == 40 && math.Abs(got.Plateau.Value-62.4) < 0.1,
		"last":           got.Last == 30,
		"bands":          fmt.Sprint(levelBands(s)) == "[clean clean degrading saturated saturated saturated saturated saturated]",
		"errors known":   got.ErrorsKnown && got.Known,
		"says up to 30":  strings.Contains(got.sentence("concurrency"), "scales to concurrency 30"),
		"runs left out":  strings.HasSuffix(saturate(withRuns(s, 3, 2)).sentence("concurrency"), ", apart from the runs that were left out at concurrency 10."),
		"all runs shown": saturate(withRuns(s, 3, 0)).LeftOut == nil,
		"errors at once": strings.Contains(saturate(failing(100)).sentence("concurrency"), "is saturated at the lowest concurrency already"),
		"nothing unsure": !saturate(series(TPOTP95, 1, 2)).Known,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
