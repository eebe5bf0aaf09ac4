package report

import (
	"math"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// TestThePageSaysWhatIsProven: the first lines state the capacity, whether it is proven, and one
// next step, which do not contradict each other.
func TestThePageSaysWhatIsProven(t *testing.T) {
	counted := func(at float64, standing runfile.Standing, lost ...string) figures.Level {
		v := &runfile.LevelVerdict{Standing: standing, Met: lost == nil, Lost: lost}
		if standing == runfile.Met {
			v.Confidence = 0.991
		}
		return figures.Level{At: at, Verdict: v, Figures: map[figures.Metric]figures.Figure{figures.InFlightMean: figures.Plain(at * 0.75)}}
	}
	objectives := []figures.Objective{{Name: "ttft", Label: "TTFT", Share: 99, Threshold: 1000}}
	for _, tt := range []struct {
		headline, capacity, next string
		levels                   []figures.Level
	}{
		{"kv meets TTFT p99 < 1000ms up to concurrency 4.",
			"**Capacity of kv: at least concurrency 4, below 8 (proven).** At concurrency 4, every SLO is met (confidence 99.1%), with 3.0 turns in flight on average. At concurrency 8, it misses TTFT (proven).",
			"plan with concurrency 4. For a finer answer, measure between concurrency 4 and 8.",
			[]figures.Level{counted(4, runfile.Met), counted(8, runfile.Missed, "ttft")}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 4.",
			"**Capacity of kv: at least concurrency 4 (proven).** At concurrency 4, every SLO is met (confidence 99.1%), with 3.0 turns in flight on average. It may be higher: no higher level was measured.",
			"measure above concurrency 4.",
			[]figures.Level{counted(4, runfile.Met)}},
		{"kv meets TTFT p99 < 1000ms up to concurrency 4.",
			"**Capacity of kv: at least concurrency 4, below 16 (proven).** At concurrency 4, every SLO is met (confidence 99.1%), with 3.0 turns in flight on average. At concurrency 8, the SLOs seem to be met, but that is not proven. At concurrency 16, it misses TTFT (proven).",
			"measure concurrency 8 for longer.",
			[]figures.Level{counted(4, runfile.Met), counted(8, runfile.Undecided), counted(16, runfile.Missed, "ttft")}},
		{"kv is not proven to meet TTFT p99 < 1000ms at any concurrency that was measured.",
			"**Capacity of kv: not proven.** At concurrency 1 and 2, neither a pass nor a miss is proven.",
			"measure concurrency 1 for longer.",
			[]figures.Level{counted(1, runfile.Undecided, "ttft"), counted(2, runfile.Undecided)}},
		{"kv does not meet TTFT p99 < 1000ms, not even at concurrency 1.",
			"**Capacity of kv: below concurrency 1 (proven).** At concurrency 1, it misses TTFT (proven).",
			"relax the SLO or change the deployment, because not even concurrency 1 is proven to meet it.",
			[]figures.Level{counted(1, runfile.Missed, "ttft")}},
		{"kv does not meet TTFT p99 < 1000ms at concurrency 4; concurrency 2 could not be judged.",
			"**Capacity of kv: below concurrency 4 (proven).** Concurrency 2 could not be judged. At concurrency 4, it misses TTFT (proven).",
			"measure concurrency 2 again (no turn).",
			[]figures.Level{{At: 2, Verdict: runfile.NotJudgedBecause("no turn")}, counted(4, runfile.Missed, "ttft")}},
		{"Whether kv meets TTFT p99 < 1000ms is not known.",
			"**Capacity of kv: not known.** No level could be judged (concurrency 1: no turn).",
			"repair what kept the levels from being judged, and measure again.",
			[]figures.Level{{At: 1, Verdict: runfile.NotJudgedBecause("no turn")}}},
	} {
		d, err := buildDocument(&figures.Study{Objectives: objectives, Series: []figures.Series{{Name: "kv", Levels: tt.levels}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		got := append([]string{d.Verdicts[0].Headline}, d.Lead...)
		if want := []string{tt.headline, tt.capacity, "**Next:** " + tt.next}; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the page says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTheHeadlineNamesJudgedSLOs: answers of one token have no TPOT, so the headline says nothing of it.
func TestTheHeadlineNamesJudgedSLOs(t *testing.T) {
	v := &runfile.LevelVerdict{Standing: runfile.Met, Met: true, SLOs: []runfile.SLOVerdict{
		{Name: "ttft", Standing: runfile.Met}, {Name: "tpot", Standing: runfile.NotJudged, Why: "no turn has one"}}}
	d, err := buildDocument(&figures.Study{Objectives: slos(), Series: []figures.Series{{Name: "kv", Levels: []figures.Level{{At: 4, Verdict: v}}}}}, false)
	if err != nil || d.Verdicts[0].Headline != "kv meets TTFT p99 < 1000ms up to concurrency 4." {
		t.Errorf("%+v, %v", d.Verdicts, err)
	}
}

// TestChangesCountLevels: the page says at how many levels a figure differs beyond chance, and if some have no interval.
func TestChangesCountLevels(t *testing.T) {
	for want, o := range map[string]overall{
		"7 of 9 better": {levels: 9, better: 7}, "2 of 9 better, 1 worse": {levels: 9, better: 2, worse: 1},
		"3 of 9 worse": {levels: 9, worse: 3}, "0 of 9": {levels: 9},
	} {
		if got := o.count(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	some := overall{log: math.Log(0.9), levels: 2, ranged: 1, up: math.NaN(), down: math.NaN()}
	none := overall{log: math.Log(0.9), levels: 2, up: math.NaN(), down: math.NaN()}
	if some.change() != "-10.0% (?)" || none.change() != "-10.0%" {
		t.Errorf("%q, %q", some.change(), none.change())
	}
}

// TestGrowingTTFT: the size of a drift that has no end is not printed.
func TestGrowingTTFT(t *testing.T) {
	for drift, want := range map[float64]string{math.Log(3286): "TTFT changed by more than ×10 ", math.Log(1.5): "TTFT changed by +50% "} {
		s := &figures.Study{Series: []figures.Series{{Name: "a", Levels: []figures.Level{{At: 4, Drift: drift}}}}}
		if got := texts(studyWarnings(s)); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCaveatsWithOtherClients: the levels that show nothing are named, also if other clients distort all of them.
func TestCaveatsWithOtherClients(t *testing.T) {
	l := level(4, map[figures.Metric]float64{figures.OutputTokensPerSecond: 30, figures.InFlightMean: 4, figures.ErrorPct: 0})
	l.Server, l.NotReached = []figures.ServerFigure{{Source: "a", Name: runfile.ServerOutputPerSecond, Value: 140}}, "late"
	d, err := buildDocument(&figures.Study{Series: []figures.Series{{Name: "a", Levels: []figures.Level{l}}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	next := d.Lead[len(d.Lead)-1]
	if !strings.Contains(next, "stop the other clients") || !strings.Contains(next, "Do not use the figures at concurrency 4") {
		t.Errorf("%q", next)
	}
}

// TestOthersTokens: only a server that generated clearly more than our tokens had other clients.
func TestOthersTokens(t *testing.T) {
	for name, tt := range map[string]struct {
		own, server, running, inFlight, errors float64
		want                                   string
	}{
		"a second client":        {30.8, 142.9, 9, 4, 0, "Other clients received up to 78% of the server's tokens."},
		"alone":                  {140, 142.9, 4, 4, 0, ""},
		"failed turns had more":  {100, 142.9, 9, 4, 5, ""},
		"no more turns than own": {100, 142.9, 4, 4, 0, ""},
	} {
		l := level(4, map[figures.Metric]float64{figures.OutputTokensPerSecond: tt.own, figures.InFlightMean: tt.inFlight, figures.ErrorPct: tt.errors})
		l.Server = []figures.ServerFigure{{Source: "a", Name: runfile.ServerOutputPerSecond, Value: tt.server}, {Source: "a", Name: runfile.ServerRunningMean, Value: tt.running},
			{Source: "b", Name: runfile.ServerOutputPerSecond, Value: tt.server / 2}}
		s := &figures.Study{Series: []figures.Series{{Name: "a", Levels: []figures.Level{l}}}}
		d, err := buildDocument(s, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := foreignLoad(s); got != tt.want || tt.want != "" && !strings.HasSuffix(d.Verdicts[0].Headline, tt.want) {
			t.Errorf("%s: %q, want %q, in the headline %q", name, got, tt.want, d.Verdicts[0].Headline)
		}
		if next := d.Lead[len(d.Lead)-1]; strings.HasPrefix(next, "**Next:** stop the other clients and measure again") != (tt.want != "") {
			t.Errorf("%s: %s", name, next)
		}
		if warned := strings.Contains(texts(studyWarnings(s)), "a shared deployment"); warned != (tt.want != "") {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

// TestThePageNamesLostSessions checks the line about sessions, over all levels of a series.
func TestThePageNamesLostSessions(t *testing.T) {
	level := func(at float64, kept, lost uint64) figures.Level {
		return figures.Level{At: at, Sessions: probe.SessionCounts{
			Kept: probe.SessionCount{Turns: kept, Prompt: 100 * kept, Cached: 90 * kept},
			Lost: probe.SessionCount{Turns: lost, Prompt: 100 * lost, Cached: 10 * lost},
		}}
	}
	d, err := buildDocument(&figures.Study{Series: []figures.Series{{Name: "kv", Levels: []figures.Level{level(1, 20, 5), level(2, 5, 20)}}, {Name: "rr"}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	const want = "**Sessions of kv:** cache lost by routing: 25 of 50 follow-ups changed the worker, and 10 % of their prompt tokens were cached, against 90 % of the others."
	if got := strings.Join(d.Lead, "\n"); !strings.Contains(got, want) || strings.Contains(got, "Sessions of rr") {
		t.Errorf("the page says\n%s", got)
	}
}
