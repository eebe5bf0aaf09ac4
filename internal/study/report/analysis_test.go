package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// level makes a level of exact figures.
func level(at float64, values map[figures.Metric]float64) figures.Level {
	l := figures.Level{At: at, Figures: map[figures.Metric]figures.Figure{}}
	for m, v := range values {
		l.Figures[m] = figures.Plain(v)
	}
	return l
}

// series makes levels 10, 20, 30 … with one figure each.
func series(m figures.Metric, values ...float64) figures.Series {
	s := figures.Series{Name: "a"}
	for i, v := range values {
		s.Levels = append(s.Levels, level(float64(10*(i+1)), map[figures.Metric]float64{m: v}))
	}
	return s
}

func slos() []figures.Objective {
	return []figures.Objective{
		{Name: "ttft", Label: "TTFT", Timing: figures.TTFT, Threshold: 1000, Share: 99},
		{Name: "tpot", Label: "TPOT", Timing: figures.TPOT, Threshold: 60, Share: 99},
	}
}

func TestJudge(t *testing.T) {
	between := func(v, low, high float64) figures.Figure {
		return figures.Figure{Value: v, Low: low, High: high, N: 1000}
	}
	for _, tt := range []struct {
		name, want string
		level      figures.Level
	}{
		{"both met", "PASS", level(1, map[figures.Metric]float64{figures.TTFTP99: 900, figures.TPOTP99: 50})},
		{"at the threshold", "PASS", level(1, map[figures.Metric]float64{figures.TTFTP99: 1000, figures.TPOTP99: 60})},
		{"TTFT", "FAIL (TTFT)", level(1, map[figures.Metric]float64{figures.TTFTP99: 1001, figures.TPOTP99: 50})},
		{"TPOT", "FAIL (TPOT)", level(1, map[figures.Metric]float64{figures.TTFTP99: 900, figures.TPOTP99: 61})},
		{"both", "FAIL (TTFT+TPOT)", level(1, map[figures.Metric]float64{figures.TTFTP99: 9000, figures.TPOTP99: 61})},
		{"one unknown", "NOT JUDGED (TPOT p99 is unknown)", level(1, map[figures.Metric]float64{figures.TTFTP99: 900})},
		{"one unknown, one missed", "FAIL (TTFT)", level(1, map[figures.Metric]float64{figures.TTFTP99: 9000})},
		{"nothing known", "NOT JUDGED (TTFT p99 is unknown)", level(1, nil)},
		{"more errors than the objective leaves", "FAIL (ERRORS)", level(1, map[figures.Metric]float64{figures.TTFTP99: 900, figures.TPOTP99: 50, figures.ErrorPct: 1.7})},
		{"fewer errors", "PASS", level(1, map[figures.Metric]float64{figures.TTFTP99: 900, figures.TPOTP99: 50, figures.ErrorPct: 0.5})},
		{"a run left out", "FAIL (ERRORS)", figures.Level{Runs: 3, Valid: 2, Figures: map[figures.Metric]figures.Figure{
			figures.TTFTP99: figures.Plain(1), figures.TPOTP99: figures.Plain(1)}}},
		{"given up, no objective missed yet", "FAIL (GIVEN UP)", figures.Level{GivenUp: true, Figures: map[figures.Metric]figures.Figure{
			figures.TTFTP99: figures.Plain(1), figures.TPOTP99: figures.Plain(1)}}},
		{"given up for an objective", "FAIL (TTFT)", figures.Level{GivenUp: true, Verdict: &runfile.LevelVerdict{Standing: runfile.Missed, Lost: []string{"ttft"}}}},
		{"given up, and seems to fail", "FAIL (GIVEN UP)", figures.Level{GivenUp: true, Figures: map[figures.Metric]figures.Figure{
			figures.TTFTP99: between(1010, 940, 1040), figures.TPOTP99: between(50, 48, 52)}}},
		{"one missed, one seems to be", "FAIL (TTFT)", figures.Level{Verdict: &runfile.LevelVerdict{Standing: runfile.Missed, Lost: []string{"ttft", "tpot"},
			SLOs: []runfile.SLOVerdict{{Name: "ttft", Standing: runfile.Missed}, {Name: "tpot", Standing: runfile.Undecided}}}}},
		{"given up, and nothing lost", "FAIL (GIVEN UP)", figures.Level{GivenUp: true, Verdict: &runfile.LevelVerdict{Standing: runfile.Missed}}},
		{"counted turns decide, not the quantile", "FAIL (TTFT)", figures.Level{
			Figures: map[figures.Metric]figures.Figure{figures.TTFTP99: between(990, 940, 1040), figures.TPOTP99: figures.Plain(1)},
			Verdict: &runfile.LevelVerdict{Standing: runfile.Missed, Lost: []string{"ttft"}}}},
		{"counted, and nothing proven", "UNDECIDED (seems to pass)", figures.Level{Verdict: &runfile.LevelVerdict{Met: true, Standing: runfile.Undecided}}},
		{"counted, nothing proven, and bad", "UNDECIDED (seems to fail TTFT+TPOT)", figures.Level{
			Verdict: &runfile.LevelVerdict{Standing: runfile.Undecided, Lost: []string{"ttft", "tpot"}}}},
		{"not reached", "NOT JUDGED (not reached)", figures.Level{NotReached: "too little", Verdict: &runfile.LevelVerdict{Met: true, Standing: runfile.Met}}},
		{"a bad quantile within noise", "UNDECIDED (seems to fail TTFT; TTFT: the interval of its quantile includes the limit)", figures.Level{Figures: map[figures.Metric]figures.Figure{
			figures.TTFTP99: between(1010, 940, 1040), figures.TPOTP99: between(50, 48, 52)}}},
		{"a quantile within noise", "UNDECIDED (seems to pass; TTFT: the interval of its quantile includes the limit)", figures.Level{Figures: map[figures.Metric]figures.Figure{
			figures.TTFTP99: between(990, 940, 1040), figures.TPOTP99: between(50, 48, 52)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := Judge(slos(), tt.level)
			if got := v.Words(labelOf(slos())); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
	if v := Judge(nil, level(1, nil)); !v.Unjudged() || v.Words(nil) != "NOT JUDGED (no SLO)" {
		t.Errorf("without objectives: %s", v.Words(nil))
	}
}

func TestComplyEndsAtTheFirstFailure(t *testing.T) {
	s := &figures.Study{Objectives: slos()[:1], Series: []figures.Series{
		series(figures.TTFTP99, 500, 600, 5000, 700), series(figures.TTFTP99, 5000, 100), series(figures.TTFTP99, math.NaN()),
	}}
	var got []string
	for _, c := range Comply(s) {
		got = append(got, fmt.Sprintf("%g %v %v", c.Least, c.Beyond, c.Judged))
	}
	if want := "20 [40] true, 0 [20] true, 0 [] false"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	all := texts(studyWarnings(s))
	if !strings.Contains(all, "passes its SLOs again at concurrency 40") {
		t.Errorf("no warning of levels out of order: %s", all)
	}
}

// Only a proven miss ends a capacity, as in a sweep, and only proven levels are one. The words
// and the next step follow from the same bounds.
func TestCapacityIsWhatIsProven(t *testing.T) {
	counted := func(s runfile.Standing, lost ...string) figures.Level {
		return figures.Level{Verdict: &runfile.LevelVerdict{Standing: s, Met: lost == nil, Lost: lost}}
	}
	met, missed := counted(runfile.Met), counted(runfile.Missed, "ttft")
	seemsMet, seemsMissed := counted(runfile.Undecided), counted(runfile.Undecided, "ttft")
	tooClose := figures.Level{Verdict: &runfile.LevelVerdict{Standing: runfile.Undecided, Met: true, SLOs: []runfile.SLOVerdict{
		{Name: "ttft", Standing: runfile.Undecided, Why: runfile.TooCloseToDecide, TooClose: true}}}}
	late := figures.Level{Verdict: runfile.NotJudgedBecause("the prober was the limit")}
	notReached := figures.Level{NotReached: "too little"}
	for _, tt := range []struct {
		name          string
		levels        []figures.Level // 10, 20, …
		between, next string
		beyond        []float64
	}{
		{"seems to fail", []figures.Level{met, seemsMissed, met, missed}, "concurrency 30 (concurrency 40 fails)", "", nil},
		{"spoiled", []figures.Level{met, late, met, missed}, "concurrency 30 (concurrency 40 fails)", "", nil},
		{"not reached", []figures.Level{met, notReached, met, missed}, "concurrency 30 (concurrency 40 fails)", "", nil},
		{"the top seems to pass", []figures.Level{met, met, seemsMet}, "concurrency 20 (concurrency 30 undecided)", "measure concurrency 30 for longer", nil},
		{"the top was not reached", []figures.Level{met, met, notReached}, "at least concurrency 20 (concurrency 30 not judged)", "measure concurrency 30 again (not reached: too little)", nil},
		{"not reached below a miss", []figures.Level{met, notReached, missed}, "concurrency 10 (concurrency 20 not judged, concurrency 30 fails)", "measure concurrency 20 again", nil},
		{"too close to its limit", []figures.Level{met, tooClose, missed}, "concurrency 10 (concurrency 20 undecided, concurrency 30 fails)", "", nil},
		{"the lowest is too close to its limit", []figures.Level{tooClose}, "not proven (concurrency 10 undecided)", "measure below concurrency 10, which cannot be decided", nil},
		{"nothing fails", []figures.Level{met, met}, "at least concurrency 20", "measure above concurrency 20", nil},
		{"nothing is proven", []figures.Level{seemsMissed, seemsMet, seemsMet}, "not proven (concurrency 10, 20 and 30 undecided)", "for longer", nil},
		{"nothing is proven below a miss", []figures.Level{seemsMet, missed}, "not proven (concurrency 10 undecided, concurrency 20 fails)", "for longer", nil},
		{"all miss", []figures.Level{missed, missed}, "below concurrency 10", "measure below concurrency", nil},
		{"the lowest was not judged", []figures.Level{late, missed}, "below concurrency 20", "measure concurrency 10 again (the prober was the limit)", nil},
		{"too close, then too few turns", []figures.Level{met, tooClose, seemsMet, seemsMet}, "concurrency 10 (concurrency 20, 30 and 40 undecided)", "measure concurrency 30 for longer", nil},
		{"too close, then not reached", []figures.Level{met, tooClose, notReached}, "concurrency 10 (concurrency 20 undecided, concurrency 30 not judged)", "measure concurrency 30 again", nil},
		{"nothing was judged", []figures.Level{late, notReached}, "not known", "repair what kept the levels", nil},
		{"passes above a failure", []figures.Level{met, missed, met, seemsMet}, "concurrency 10 (concurrency 20 fails)", "", []float64{30}},
	} {
		var series figures.Series
		for i, l := range tt.levels {
			l.At = float64(10 * (i + 1))
			series.Levels = append(series.Levels, l)
		}
		s := &figures.Study{Objectives: slos()[:1], Series: []figures.Series{series}}
		c := Comply(s)[0]
		next := (&builder{s: s}).openStep(c)
		if got := c.between(s.LevelKind()); got != tt.between || !strings.Contains(next, tt.next) || tt.next == "" && next != "" {
			t.Errorf("%s: %s, next %q; want %s, %q", tt.name, got, next, tt.between, tt.next)
		}
		if !slices.Equal(c.Beyond, tt.beyond) {
			t.Errorf("%s: beyond %v, want %v", tt.name, c.Beyond, tt.beyond)
		}
	}
}

// A baseline that passes wherever it was measured is not known to be worse than a series that
// was measured further.
func TestCapacitiesRankWhatWasMeasured(t *testing.T) {
	const good, bad = 500, 5000
	unknown := math.NaN()
	for _, tt := range []struct {
		name           string
		base, other    []float64
		winner, change bool
	}{
		{"better", []float64{good, bad}, []float64{good, good}, true, false},
		{"worse", []float64{good, good}, []float64{good, bad}, false, false},
		{"both bracketed", []float64{good, bad, bad}, []float64{good, good, bad}, true, true},
		{"equal at the highest level", []float64{good, good}, []float64{good, good}, false, false},
		{"the baseline was stopped", []float64{good}, []float64{good, good}, false, false},
		{"the other was stopped", []float64{good, good}, []float64{good}, false, false},
		{"the baseline has no figure there", []float64{good, unknown}, []float64{good, good}, false, false},
		{"the baseline fails at once", []float64{bad}, []float64{good, good}, true, false},
	} {
		s := &figures.Study{Objectives: slos()[:1], Series: []figures.Series{series(figures.TTFTP99, tt.base...), series(figures.TTFTP99, tt.other...)}}
		if c := Comply(s)[1]; c.Winner != tt.winner || math.IsNaN(c.Change) == tt.change {
			t.Errorf("%s: winner %v, change %v", tt.name, c.Winner, c.Change)
		}
	}
}

// TestShiftNeedsAnEnd: a level that was not reached is no end of a series.
func TestShiftNeedsAnEnd(t *testing.T) {
	of := func(slow float64, unreached ...float64) figures.Series {
		s := figures.Series{Name: "a"}
		for _, at := range []float64{2, 4, 8, 16} {
			ttft := 200.0
			if at >= slow {
				ttft = 3000
			}
			l := level(at, map[figures.Metric]float64{figures.TTFTP50: ttft, figures.ErrorPct: 0})
			if slices.Contains(unreached, at) {
				l.NotReached = "too little"
			}
			s.Levels = append(s.Levels, l)
		}
		return s
	}
	for _, tt := range []struct {
		name        string
		base, other figures.Series
		want        string
	}{
		{"a level was not reached", of(16), of(16, 8), ""},
		{"the highest levels were not reached", of(100), of(100, 8, 16), ""},
		{"the baseline was not reached", of(100, 8, 16), of(100), ""},
		{"it is slow earlier", of(16), of(8), "from concurrency 8 to concurrency 4: -50%"},
		{"it is slow later", of(8), of(16), "from concurrency 4 to concurrency 8: +100%"},
	} {
		b := builder{s: &figures.Study{Series: []figures.Series{tt.base, tt.other}}, baseline: tt.base}
		if got := strings.Join(b.shifts(), " "); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestBetween(t *testing.T) {
	tpot := figures.TPOTP50
	tops := figures.OutputTokensPerSecond
	turns := figures.InFlightMax
	for _, tt := range []struct {
		m       figures.Metric
		a, b    float64
		want    string
		improve float64
	}{
		{tpot, 44, 65.1, "+48% worse", -47.95},
		{tpot, 79, 71, "-10% better", 10.13},
		{tpot, 206, 6518.8, "×32 worse", -3064.5},
		{tpot, 6000, 60, "÷100 better", 99},
		{tops, 100, 110, "+10% better", 10},
		{tops, 100, 90, "-10% worse", -10},
		{tpot, 50, 50, "0%", 0},
		{tpot, 1000, 1001, "0%", -0.1},
		{turns, 16, 29, "+81%", -81.25},
		{tpot, 0, 5, "n/a", math.NaN()},
		{tpot, math.NaN(), 5, "n/a", math.NaN()},
		{tpot, 5, math.Inf(1), "n/a", math.NaN()},
	} {
		base, other := level(1, map[figures.Metric]float64{tt.m: tt.a}), level(1, map[figures.Metric]float64{tt.m: tt.b})
		if got := compareFigures(tt.m, base, other).String(); got != tt.want {
			t.Errorf("%s %g → %g: %s, want %s", tt.m, tt.a, tt.b, got, tt.want)
		}
		if got := compareFigures(tt.m, base, other).improvement(); math.Abs(got-tt.improve) > 0.01*math.Abs(tt.improve) {
			t.Errorf("%s %g → %g improves by %g, want %g", tt.m, tt.a, tt.b, got, tt.improve)
		}
	}
}

func TestSurvivorsAreNotBetter(t *testing.T) {
	tpot := figures.TPOTP50
	base := level(1, map[figures.Metric]float64{figures.TPOTP50: 83, figures.ErrorPct: 1.7})
	other := level(1, map[figures.Metric]float64{figures.TPOTP50: 69.6, figures.ErrorPct: 17.3})
	if got := compareFigures(tpot, base, other).String(); got != "-16% better (survivors)" {
		t.Errorf("among survivors: %s", got)
	}
	if got := compareFigures(tpot, other, base).String(); got != "+19% worse" {
		t.Errorf("the other way round: %s", got)
	}
}

func TestNoise(t *testing.T) {
	m := figures.TTFTP50
	of := func(v, low, high float64) figures.Level {
		return figures.Level{Figures: map[figures.Metric]figures.Figure{m: {Value: v, Low: low, High: high, N: 500}}}
	}
	for _, tt := range []struct {
		name string
		a, b figures.Level
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

func TestPrintedFiguresAreComparedAsPrinted(t *testing.T) {
	m := figures.TPOTP50
	base := level(1, nil)
	base.Figures[m] = figures.Figure{Value: 84, Low: math.NaN(), High: math.NaN(), Step: 1}
	if got := compareFigures(m, base, level(1, map[figures.Metric]float64{m: 70.3})).String(); got != "-17% better" {
		t.Errorf("84 as printed against 70.3: %s, want -17%% as of 70", got)
	}
}

func TestSaturation(t *testing.T) {
	s := figures.Series{Name: "a"}
	for i, v := range []struct{ tpot, ttft, errors float64 }{
		{40, 200, 0}, {41, 210, 0}, {60, 300, 0}, {62, 1500, 2}, {62.5, 2000, 8}, {62.2, 3000, 3}, {62.8, 4000, 9}, {62.6, 5000, 20},
	} {
		s.Levels = append(s.Levels, level(float64(10*(i+1)), map[figures.Metric]float64{
			figures.TPOTP50: v.tpot, figures.TPOTP95: v.tpot, figures.TTFTP50: v.ttft, figures.ErrorPct: v.errors}))
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
		"nothing unsure": !saturate(series(figures.TPOTP95, 1, 2)).Known,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// texts returns warnings line by line.
func texts(all []warning) string {
	var lines []string
	for _, w := range all {
		lines = append(lines, w.String())
	}
	return strings.Join(lines, "\n")
}

func TestWarnings(t *testing.T) {
	fine := map[figures.Metric]float64{figures.TPOTP50: 50, figures.TTFTP50: 200, figures.TurnsPerSecond: 2, figures.LatencyMean: 5000, figures.ErrorPct: 0}
	with := func(m figures.Metric, v float64) figures.Level {
		l := level(10, fine)
		l.Figures[m] = figures.Plain(v)
		return l
	}
	drifting, falling, spec, left := level(10, fine), level(10, fine), level(10, fine), level(10, fine)
	drifting.Drift, falling.Drift = math.Log(1.4), -math.Log(100)
	spec.Server = []figures.ServerFigure{{Source: "x", Name: runfile.ServerSpecAcceptance, Value: 2.0 / 25182}}
	left.Runs, left.Valid = 3, 1
	for _, tt := range []struct {
		name, want string
		level      figures.Level
	}{
		{"nothing to say", "", level(10, fine)},
		{"survivors", "concurrency 10: 3.0% of turns failed, and latencies count only the others, so they look better than they are.", with(figures.ErrorPct, 3)},
		{"little", "do not rely on throughput and latency of this level, because they contradict each other: 4.00 turns/s × 5.0 s a turn are 20.0 turns in flight, but there were 10.0 (+100%).", with(figures.TurnsPerSecond, 4)},
		{"drift", "TTFT changed by +40% during", drifting},
		{"fallen to a hundredth", "TTFT changed by more than ÷10 during", falling},
		{"speculation", "accepts 0.01% of drafted tokens: it is pure overhead", spec},
		{"left out", "2 of 3 runs had more than 5% errors: they are left out", left},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &figures.Study{Kind: runfile.Concurrency, Series: []figures.Series{{Name: "a", Levels: []figures.Level{tt.level}}}}
			all := texts(studyWarnings(s))
			if (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) {
				t.Errorf("warnings %q, want %q", all, tt.want)
			}
		})
	}
}

// Tokens that the kernel timestamped may lie unread without a warning. The prober's own
// addition gives a warning if it is a relevant part of the figure.
func TestWarningsOfWhatDistorts(t *testing.T) {
	for name, tt := range map[string]struct {
		figures map[figures.Metric]float64
		want    string
	}{
		"read late, stamped in time": {map[figures.Metric]float64{figures.ReadLagP99: 400, figures.AddedTTFTP99: 2, figures.AddedGapP99: 2}, ""},
		"late by a hundredth":        {map[figures.Metric]float64{figures.AddedTTFTP99: 12, figures.TTFTP50: 1200}, ""},
		"late by a third":            {map[figures.Metric]float64{figures.AddedTTFTP99: 81, figures.TTFTP50: 240}, "81 ms or more to the TTFT"},
		"merged by the kernel":       {map[figures.Metric]float64{figures.AddedGapP99: 35}, "35 ms or more to an ITL"},
		"sent late":                  {map[figures.Metric]float64{figures.ScheduleLagP99: 50, figures.LatencyMean: 100}, "sent 50 ms or more after it was due"},
		"sent a moment late":         {map[figures.Metric]float64{figures.ScheduleLagP99: 15, figures.LatencyMean: 4000}, ""},
	} {
		s := &figures.Study{Series: []figures.Series{{Name: "a", Levels: []figures.Level{level(4, tt.figures)}}}}
		got := texts(studyWarnings(s))
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, tt.want)
		}
	}
}

// A closed loop without think time is compared with its level, not with the sum of its own
// turns.
func TestLittleCanFail(t *testing.T) {
	half := level(100, map[figures.Metric]float64{figures.TurnsPerSecond: 500, figures.TurnTimeMean: 100, figures.InFlightMean: 50})
	s := &figures.Study{Workload: []runfile.Parameter{{Name: "think_time", Value: "0s … 0s"}}}
	s.Kind = runfile.Concurrency
	if c := checkLittle(s, half); c.holds() || c.InFlight != 100 || c.Product != 50 {
		t.Errorf("100 asked, 50 in flight: %+v", c)
	}
	s.Workload[0].Value = "1s … 3s"
	if c := checkLittle(s, half); !c.holds() {
		t.Errorf("half of the conversations think: %+v", c)
	}
}
