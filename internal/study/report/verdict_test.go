package report

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

func documentOf(t *testing.T, s *Study) document {
	t.Helper()
	d, err := buildDocument(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// around makes levels 10, 20, … with a TTFT p95 whose interval is ± the given percentage.
func around(name string, percent float64, values ...float64) Series {
	s := Series{Name: name}
	for i, v := range values {
		l := level(float64(10*(i+1)), nil)
		l.Figures[TTFTP95] = Figure{Value: v, Low: v * (1 - percent/100), High: v * (1 + percent/100), N: 1000, Quantile: true}
		s.Levels = append(s.Levels, l)
	}
	return s
}

// failing gives the first two levels a share of failed turns of 50; without levels they have nothing else.
func failing(percent float64, levels ...Level) Series {
	if levels == nil {
		levels = []Level{level(10, nil), level(20, nil)}
	}
	for _, l := range levels[:2] {
		l.Figures[ErrorPct] = Figure{Value: percent, Low: percent / 40, High: min(5*percent, 100), N: 50}
	}
	return Series{Name: "b", Levels: levels}
}

// TestVerdictOfAComparison: the verdict has at most three sentences, and is the same with and without an SLO. A series
// can replace the baseline only if no latency percentile is worse by more than 10 % at any level of both.
func TestVerdictOfAComparison(t *testing.T) {
	base := around("a", 2, 200, 300, 400)
	for _, l := range base.Levels {
		l.Figures[ErrorPct] = Figure{High: 0.7, N: 500}
	}
	for _, tt := range []struct {
		name  string
		other Series
		want  comparisonResult
		text  []string
	}{
		{"better", around("b", 2, 150, 225, 300), resultBetter, []string{
			"b is better than a: TTFT p95 25.0% lower, geometric means over 3 levels", "No latency percentile of b is more than 10% worse at any level of both.", "Next: b can replace a."}},
		{"better but for one level", around("b", 2, 100, 150, 800), resultInconclusive, []string{"At concurrency 30, TTFT p95 of b is 800ms against 400ms (100% worse)."}},
		{"better at most levels", around("b", 2, 100, 150, 150, 150, 800), resultBetter, []string{
			"b is better than a, except TTFT p95 at concurrency 50: TTFT p95 ", "At concurrency 50, TTFT p95 of b is 800ms against 500ms (60% worse).", "Next: find what makes b worse at concurrency 50 before it replaces a."}},
		{"worse", around("b", 2, 400, 3000, 4000), resultWorse, []string{
			"b is worse than a: TTFT p95 5.8x as high", "No latency percentile of b is better at any level of both.", "Next: keep a, and find what makes b worse."}},
		{"alike", around("b", 2, 201, 299, 401), resultAlike, []string{"b is no different from a: TTFT p95 0.1% higher", "Next: b can replace a; choose by other reasons."}},
		{"every turn fails", failing(100), resultWorse, []string{
			"b is worse than a: all turns of b failed at concurrency 10 and 20.", "At concurrency 10, Error % of b is 100.0% against", "Next: keep a, and find what makes b worse."}},
		{"one turn of 50 fails", failing(2, around("b", 2, 150, 225, 300).Levels...), resultBetter, []string{
			"b is better than a: TTFT p95 25.0% lower, geometric means", "At concurrency 10, Error % of b is 2.0% against 0.0% (which may be chance).", "Next: measure concurrency 10 for longer before b replaces a."}},
		{"too noisy to say", around("b", 40, 201, 299, 401), resultInconclusive, []string{"Whether b is better than a cannot be told", "Next: measure each level for longer, or repeat the sweep"}},
		{"other levels", Series{Name: "b", Levels: []Level{level(7, map[Metric]float64{TTFTP95: 3})}}, resultInconclusive, []string{"no level of both has a latency"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := base
			for len(base.Levels) < len(tt.other.Levels) {
				base = around("a", 2, 200, 300, 400, 500, 500)
			}
			s := &Study{Series: []Series{base, tt.other}}
			if c := compareSeries(s, tt.other); c.Result != tt.want {
				t.Errorf("%s, want %s: %+v", c.Result, tt.want, c)
			}
			plain := documentOf(t, s).Verdict
			for _, want := range tt.text {
				if !strings.Contains(strings.Join(plain, " "), want) {
					t.Errorf("%q lacks %q", plain, want)
				}
			}
			s.Objectives = []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: 350 * time.Millisecond, Objective: 0.95}}
			judged := documentOf(t, s).Verdict
			for i := range plain {
				if before, _, _ := strings.Cut(judged[i], ", and "); before != strings.TrimSuffix(plain[i], ".") && judged[i] != plain[i] {
					t.Errorf("an SLO changes %q to %q", plain[i], judged[i])
				}
			}
			if len(plain) > 3 || len(judged) > 3 {
				t.Errorf("%d and %d sentences", len(plain), len(judged))
			}
		})
	}
}

// TestVerdictOfASingleSeries: it says up to where the SLOs are met, what ends that, and what to do next.
func TestVerdictOfASingleSeries(t *testing.T) {
	counted := func(at float64, standing runs.Standing, lost ...string) Level {
		return Level{At: at, Verdict: &runs.LevelVerdict{Standing: standing, Met: lost == nil, Lost: lost}}
	}
	objectives := []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Objective: 0.99, Threshold: time.Second}}
	slow := counted(8, runs.Missed, "ttft")
	slow.Figures = map[Metric]Figure{TTFTP99: Plain(1500)}
	for _, tt := range []struct {
		want   string
		levels []Level
	}{
		{"kv meets TTFT p99 < 1000ms up to concurrency 4. At concurrency 8, it misses TTFT (p99 1500ms). Next: plan with concurrency 4; for a finer answer, measure between concurrency 4 and 8.",
			[]Level{counted(4, runs.Met), slow}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 4, the highest level. Next: measure above concurrency 4 to find its end.",
			[]Level{counted(4, runs.Met)}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 8. At concurrency 16, it misses TTFT. Next: measure longer at the end of what passes, because chance could turn a verdict there (~ in the matrix).",
			[]Level{counted(4, runs.Met), counted(8, runs.Undecided), counted(16, runs.Missed, "ttft")}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 4, the highest judged level. Next: measure above concurrency 4 to find its end.",
			[]Level{counted(4, runs.Met), {At: 8, NotReached: "4 of 8"}}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 4. At concurrency 8, it misses its SLOs, because too many turns failed. Next: plan with concurrency 4; for a finer answer, measure between concurrency 4 and 8.",
			[]Level{counted(4, runs.Met), counted(8, runs.Missed, manyErrors)}},
		{"kv does not meet TTFT p99 < 1000ms, not even at concurrency 1. At concurrency 1, it misses TTFT. Next: measure below concurrency 1, relax the SLO, or change the deployment.",
			[]Level{counted(1, runs.Missed, "ttft")}},
		{"Whether kv meets TTFT p99 < 1000ms is not known. Concurrency 1: no turn. Next: repair what kept the levels from being judged, and measure again.",
			[]Level{{At: 1, Verdict: runs.NotJudgedBecause("no turn")}}},
	} {
		d := documentOf(t, &Study{Objectives: objectives, Series: []Series{{Name: "kv", Levels: tt.levels}}})
		if got := strings.Join(d.Verdict, " "); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
}

// TestFirstScreen: a report begins with its verdict and a picture.
func TestFirstScreen(t *testing.T) {
	for name, tt := range map[string]struct {
		s             *Study
		text, picture string
	}{
		"better":                {quicker(), "kv_aware is better than round_robin: TTFT p50 ", "ttft.svg"},
		"not judged":            {read(t, "000"), "round_robin scales to concurrency 60", "ttft.svg"},
		"speed decides nothing": {throughput(), "b is better than a: Output tokens/s 50.0% higher", "tops.svg"},
	} {
		t.Run(name, func(t *testing.T) {
			d := documentOf(t, tt.s)
			if !strings.Contains(d.Verdict[0], tt.text) || d.Picture == nil || d.Picture.File != tt.picture {
				t.Errorf("%q with picture %v; want %s, %s", d.Verdict, d.Picture, tt.text, tt.picture)
			}
			text, _ := d.markdown()
			if strings.Index(string(text), "](") > strings.Index(string(text), "## ") {
				t.Errorf("the picture is not above the rest:\n%.900s", text)
			}
		})
	}
}

// throughput returns a study in which only the throughput of two series differs.
func throughput() *Study {
	s := &Study{Title: "throughput"}
	for i, name := range []string{"a", "b"} {
		series := Series{Name: name}
		for _, at := range []float64{10, 20} {
			series.Levels = append(series.Levels, Level{At: at, Figures: map[Metric]Figure{
				TPOTP50: Plain(20 + at), OutputTokensPerSecond: Plain(at * (10 + 5*float64(i)))}})
		}
		s.Series = append(s.Series, series)
	}
	return s
}

// quicker returns a short run whose second variant is quicker.
func quicker() *Study {
	return FromRun(reporttest.Run(reporttest.Options{
		Seed: 1, Levels: []float64{40, 60}, Variants: []reporttest.Variant{{Name: "round_robin", Slowdown: 1}, {Name: "kv_aware", Slowdown: 0.7}},
	}))
}

// TestTheQuantileOfTheSLOIsDrawn: a chart with the line of an SLO also shows the quantile of
// the SLO. Charts begin at zero, and variants have their own colors.
func TestTheQuantileOfTheSLOIsDrawn(t *testing.T) {
	s := quicker()
	s.Objectives = s.Objectives[:1]
	c := documentOf(t, s).Picture.Chart
	want := []string{"round_robin p50", "round_robin p99", "kv_aware p50", "kv_aware p99"}
	if names := names(c); !slices.Equal(names, want) || !c.Marks[0].Limit || c.Marks[0].Text != "SLO TTFT p99 < 1000ms" {
		t.Errorf("marks %+v beside %q, want %q", c.Marks, names, want)
	}
	if c.Series[0].Color == c.Series[2].Color || c.Series[0].Color != c.Series[1].Color {
		t.Errorf("colors and axis: %+v", c)
	}
	for _, series := range s.Series {
		for _, l := range series.Levels {
			delete(l.Figures, metricOf(s.Objectives[0]))
		}
	}
	if c := documentOf(t, s).Picture.Chart; slices.ContainsFunc(c.Marks, func(m chart.Mark) bool { return m.Limit }) {
		t.Errorf("the line of an SLO stands in a picture of other values: %+v", c.Marks)
	}
}

func names(c chart.Chart) (all []string) {
	for _, s := range c.Series {
		all = append(all, s.Name)
	}
	return all
}

// TestTheReportNamesLostSessions checks the line about sessions, over all levels of a series.
func TestTheReportNamesLostSessions(t *testing.T) {
	at := func(at float64, kept, lost uint64) Level {
		return Level{At: at, Sessions: probe.SessionCounts{
			Kept: probe.SessionCount{Turns: kept, Prompt: 100 * kept, Cached: 90 * kept},
			Lost: probe.SessionCount{Turns: lost, Prompt: 100 * lost, Cached: 10 * lost},
		}}
	}
	text := rendered(t, &Study{Series: []Series{{Name: "kv", Levels: []Level{at(1, 20, 5), at(2, 5, 20)}}, {Name: "rr"}}})
	const want = "**Sessions of kv:** cache lost by routing: 25 of 50 follow-ups changed the worker, and 10 % of their prompt tokens were cached, against 90 % of the others."
	if !strings.Contains(text, want) || strings.Contains(text, "Sessions of rr") {
		t.Errorf("the report says\n%s", text)
	}
}

// TestDefects: each defect of a measurement is named in one line with its levels.
func TestDefects(t *testing.T) {
	fine := map[Metric]float64{TPOTP50: 50, TTFTP50: 200, LatencyMean: 5000, ErrorPct: 0}
	with := func(change func(*Level)) Level {
		l := level(10, maps.Clone(fine))
		change(&l)
		return l
	}
	for _, tt := range []struct {
		name, want string
		level      Level
	}{
		{"nothing to say", "", level(10, fine)},
		{"speculation", "accepts 0.01% of drafted tokens: it is pure overhead", with(func(l *Level) {
			l.Server = []ServerFigure{{Source: "x", Name: serverside.SpecAcceptance, Value: 2.0 / 25182}}
		})},
		{"not reached", "the level was not reached: too little.", with(func(l *Level) { l.NotReached = "too little" })},
		{"late by a hundredth", "", with(func(l *Level) { l.Figures[AddedTTFTP99] = Plain(12) })},
		{"late by a third", "the prober may have added 81ms or more to TTFT p50", with(func(l *Level) { l.Figures[AddedTTFTP99] = Plain(81) })},
		{"sent late", "1 turn of 100 was sent 500ms or more after it was due", with(func(l *Level) { l.Figures[ScheduleLagP99] = Plain(500) })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Study{Kind: runs.Concurrency, Series: []Series{{Name: "a", Levels: []Level{tt.level}}}}
			if all := strings.Join(defects(s), "\n"); (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) {
				t.Errorf("%q, want %q", all, tt.want)
			}
		})
	}
}
