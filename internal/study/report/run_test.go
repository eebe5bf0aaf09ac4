package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

func merged(t *testing.T, all ...*runs.Run) *runs.Run {
	t.Helper()
	run, err := runs.Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// This test splits a sweep of six repetitions into three files of two, and pools them again.
func TestAverageOfSplitRunsIsTheUnsplitRun(t *testing.T) {
	whole := reporttest.Run(reporttest.Options{Seed: 4, Repetitions: 6, Levels: []float64{40, 120}})
	var parts []*runs.Run
	for i := range 3 {
		part := *whole
		part.Results, part.Repetitions = nil, 2
		for _, r := range whole.Results {
			if (r.Repetition-1)/2 == i {
				part.Results = append(part.Results, r)
			}
		}
		parts = append(parts, &part)
	}
	// A sum in another order may differ in its last bit.
	near := cmpopts.EquateApprox(1e-12, 0)
	want, got := FromRun(whole), FromRun(merged(t, parts...))
	if diff := cmp.Diff(want.Series, got.Series, near, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the average of the parts differs from the whole (-whole +parts):\n%s", diff)
	}
}

func TestFiguresOfARun(t *testing.T) {
	s := FromRun(reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{80}}))
	l := s.Series[0].Levels[0]
	// 80 in flight, 3.8 s per turn of 100 tokens: about 21 turns/s.
	for m, want := range map[Metric]float64{
		TurnsPerSecond: 21, GoodputPerSecond: 21, OutputTokensPerSecond: 2100, InFlightMean: 80, InFlightMax: 80,
		KVHitRatePct: 90, OutputTokensPerTurn: 100, TPOTP50: 36, TTFTP50: 220, LatencyP50: 3800,
		ErrorPct: 0, Failed: 0, ConversationStartsPerSecond: 5.1,
	} {
		if got := l.Value(m); math.Abs(got-want) > 0.05*want {
			t.Errorf("%s = %g, want about %g", m, got, want)
		}
	}
	if f := l.Figure(TTFTP99); !f.Ranged() || f.Low >= f.Value || f.High <= f.Value || f.N < 6000 {
		t.Errorf("TTFT p99 %+v, want an interval and its number of turns", f)
	}
	first, followup := l.Value(percentile(slo.TTFT, FirstTurns, 50)), l.Value(percentile(slo.TTFT, FollowupTurns, 50))
	if !(first > 1.3*followup) {
		t.Errorf("TTFT p50 of first turns %g, of follow-ups %g: they are mixed", first, followup)
	}
	if v := l.Verdict; v == nil || v.Standing != runs.Met || v.Confidence < 0.99 {
		t.Errorf("judged: %+v", v)
	}
}

// TestStatistics compares the statistics with the values in the run.
func TestStatistics(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{80}})
	l := FromRun(run).Series[0].Levels[0]
	var sum, n float64
	for _, b := range run.Results[0].Blocks() {
		for _, v := range []*sketch.Sketch{b.First.Latency.Values, b.Followup.Latency.Values} {
			sum, n = sum+v.Sum(), n+float64(v.Count())
		}
	}
	f, want := l.Figure(LatencyMean), 1000*sum/n
	if math.Abs(f.Value-want) > 1e-6*want || !f.Ranged() || !(f.Low < f.Value && f.Value < f.High) || float64(f.N) != n {
		t.Errorf("the mean is %+v, want %g of %g turns", f, want, n)
	}
	var rising []float64
	for _, s := range []Statistic{Min, "p50", "p75", "p90", "p95", "p99", "p99.9", Max} {
		rising = append(rising, l.Value(ofAll(slo.NTPOT, s)))
	}
	if !slices.IsSorted(rising) || !(rising[0] > 30 && rising[7] < 50) || rising[1] <= l.Value(TPOTP50) {
		t.Errorf("NTPOT from the least to the most: %v; TPOT p50 is %g", rising, l.Value(TPOTP50))
	}
}

// TestLateTurnsAreNamed: turns that the prober left out are counted in a warning.
func TestLateTurnsAreNamed(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{60}})
	run.Results[0].Snapshots[0].Blocks[0].Outcomes[probe.NotSent] = 1
	if l := FromRun(run).Series[0].Levels[0]; !strings.Contains(strings.Join(l.Warnings, "\n"), "the prober was late or could not send: 1 of") {
		t.Errorf("one turn that was not sent: warnings %q", l.Warnings)
	}
}

// TestLagMovesFiguresByItsSize: a lag of 100 ms in each turn takes away what it may have caused, and nothing of TPOT.
func TestLagMovesFiguresByItsSize(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{60}})
	before := FromRun(run).Series[0].Levels[0]
	for _, b := range run.Results[0].Blocks() {
		for range b.TurnsStarted {
			b.AddedTTFT.Add(0.1)
			b.AddedGap.Add(0.0001)
		}
	}
	after := FromRun(run).Series[0].Levels[0]
	if got, was := after.Figure(TTFTP50), before.Figure(TTFTP50); got.Value != was.Value || got.High != was.High || math.Abs(got.Low-(got.Value-100)) > 2 {
		t.Errorf("TTFT p50 was %+v, now %+v", was, got)
	}
	for _, m := range []Metric{TPOTP50, TPOTP99, LatencyP50, LatencyP95} {
		if got, was := after.Figure(m), before.Figure(m); got != was {
			t.Errorf("%s was %+v, now %+v", m, was, got)
		}
	}
}

func TestARunWithErrorsIsLeftOut(t *testing.T) {
	bad := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{60}, Variants: []reporttest.Variant{{Name: "default", Slowdown: 0.5, Limit: 10}}})
	good := reporttest.Run(reporttest.Options{Seed: 2, Levels: []float64{60}, Repetitions: 2})
	alone := FromRun(good).Series[0].Levels[0]
	both := FromRun(merged(t, good, bad)).Series[0].Levels[0]
	if both.Runs != 3 || both.Valid != 2 || !strings.HasPrefix(both.Notes, "1 run excluded (") || !strings.HasSuffix(both.Notes, "% errors)") {
		t.Fatalf("%d/%d valid, left out %q", both.Valid, both.Runs, both.Notes)
	}
	if a, b := alone.Figure(TTFTP50), both.Figure(TTFTP50); a.Value != b.Value || a.N != b.N {
		t.Errorf("TTFT %g of %d turns with the bad run, %g of %d without", b.Value, b.N, a.Value, a.N)
	}
	if pct := both.Value(ErrorPct); !(pct > MaxErrorPct) || both.Errors["http_429"] == 0 {
		t.Errorf("%.1f %% errors, by outcome %v: the bad run's errors are gone", pct, both.Errors)
	}
}

// TestTooFewTurnsAreUncertain: a quantile of too few turns for its interval is printed as measured.
func TestTooFewTurnsAreUncertain(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}})
	snapshots := run.Results[0].Snapshots[:1]
	snapshots[0].Blocks = snapshots[0].Blocks[:1]
	run.Results[0].Snapshots = snapshots
	l := FromRun(run).Series[0].Levels[0]
	f := l.Figure(TTFTP99)
	if !f.Uncertain() || f.N > 200 {
		t.Errorf("p99 of %d turns: %+v, want an unknown end", f.N, f)
	}
	if m := TTFTP99.mark(f); m != noMark {
		t.Errorf("marked %d", m)
	}
	if l.Figure(TTFTP50).Uncertain() {
		t.Error("p50 is uncertain")
	}
}

func TestTailFailuresCount(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}})
	hung := probe.Result{Kind: probe.First, Outcome: probe.TimeoutFirstToken, Sent: reporttest.Noon(), End: reporttest.Noon().Add(1e11)}
	tail := &runs.Block{Seconds: 60}
	for range 40 {
		tail.Observe(&hung, reporttest.SLOs())
	}
	run.Results[0].Tail = tail
	l := FromRun(run).Series[0].Levels[0]
	if without := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}}); l.Errors["timeout_first_token"] != 40 ||
		!(l.Verdict.Confidence < FromRun(without).Series[0].Levels[0].Verdict.Confidence) {
		t.Errorf("errors %v, %+v: the turns that hung at the end are gone", l.Errors, l.Verdict)
	}
}

func TestDifference(t *testing.T) {
	base := func() *runs.Run { return reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}}) }
	for _, tt := range []struct {
		name, want string
		change     func(*runs.Run)
	}{
		{"the same", "", func(*runs.Run) {}},
		{"another seed", "", func(r *runs.Run) { r.Seed = 9 }},
		{"workload", "prompt_tokens is 3750 in the first, 100 in the second", func(r *runs.Run) { r.Workload.Parameters[1].Value = "100" }},
		{"one more parameter", "system is not given in the first, be brief in the second", func(r *runs.Run) {
			r.Workload.Parameters = append(r.Workload.Parameters, runs.Parameter{Name: "system", Value: "be brief"})
		}},
		{"SLO", "the SLOs differ: ttft (TTFT p99 < 1000ms)", func(r *runs.Run) { r.SLOs[0].Threshold *= 2 }},
		{"a line", "the SLOs differ: ttft (TTFT p99 < 1000ms), tpot", func(r *runs.Run) { r.SLOs[0].PerThousand = 60 * time.Millisecond }},
		{"a class", "ttft (TTFT with <4k uncached p99 < 1000ms)", func(r *runs.Run) { r.SLOs[0].Uncached.Below = 4000 }},
		{"both kinds of turns by name", "", func(r *runs.Run) { r.SLOs[0].Turns = probe.TurnKinds() }},
		{"one kind of turns", "ttft (TTFT first p99 < 1000ms)", func(r *runs.Run) { r.SLOs[0].Turns = []probe.TurnKind{probe.First} }},
		{"levels", "are concurrency, those of b are rate", func(r *runs.Run) { r.LevelKind = runs.Rate }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := base()
			tt.change(other)
			a, b := FromRun(base()), FromRun(other)
			a.File, b.File = "a", "b"
			got := Difference(a, b)
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("difference %q, want %q", got, tt.want)
			}
		})
	}
}

func TestJoinTellsSeriesApart(t *testing.T) {
	variants := []reporttest.Variant{{Name: "rr", Slowdown: 1}, {Name: "kv", Slowdown: 1}}
	of := func(name string, v []reporttest.Variant) *Study {
		s := FromRun(reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}, Variants: v}))
		s.Name = name
		return s
	}
	for _, tt := range []struct {
		name, want string
		studies    []*Study
	}{
		{"one variant each", "old|new", []*Study{of("old", variants[:1]), of("new", variants[:1])}},
		{"the same variants", "old rr|old kv|new rr|new kv", []*Study{of("old", variants), of("new", variants)}},
		{"one beside two", "old|rr|kv", []*Study{of("old", []reporttest.Variant{{Name: "x", Slowdown: 1}}), of("new", variants)}},
		{"alone", "rr|kv", []*Study{of("old", variants)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, s := range Join(tt.studies).Series {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, "|"); got != tt.want {
				t.Errorf("series %s, want %s", got, tt.want)
			}
		})
	}
}

// TestRunsProveTogether: the capacity of pooled runs is what all their turns prove, by the rule of a single run.
func TestRunsProveTogether(t *testing.T) {
	of := func(seed uint64) *runs.Run {
		run := reporttest.Run(reporttest.Options{Seed: seed, Levels: []float64{40}})
		s := &run.Results[0].Snapshots
		*s = (*s)[:1]
		(*s)[0].Blocks = (*s)[0].Blocks[:2] // about 270 turns, too few
		run.Results[0].Verdict = FromRun(run).Series[0].Levels[0].Verdict
		return run
	}
	proven := func(all ...*runs.Run) float64 {
		s := FromRun(merged(t, all...))
		return capacityOf(s, s.Series[0], true).Least()
	}
	if one, two := proven(of(1)), proven(of(1), of(2)); one != 0 || two != 40 {
		t.Errorf("one run proves %g, want nothing; two prove %g, want 40", one, two)
	}
}

// TestJoinKeepsWhoseThingsAre: deployments keep the name of their column.
func TestJoinKeepsWhoseThingsAre(t *testing.T) {
	of := func(name string) *Study {
		run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}, Variants: []reporttest.Variant{{Name: "rr", Slowdown: 1}, {Name: "kv", Slowdown: 1}}})
		run.Deployment = []runs.Parameter{
			{Name: "host", Value: "a"}, {Name: "GPU", Value: "3x"}, {Name: "GPU", Value: "4x", Variant: "kv"}, {Name: "router", Value: "kv", Variant: "kv"},
		}
		s := FromRun(run)
		s.Name = name
		return s
	}
	joined := Join([]*Study{of("old"), of("new")})
	got, err := documentOf(t, joined).markdown()
	if err != nil {
		t.Fatal(err)
	}
	want := `
## Deployment Details

| Parameter | Value |
| :--- | :--- |
| host | a |

## Configuration Differences

| Parameter | old rr (baseline) | old kv | new rr | new kv |
| :--- | :--- | :--- | :--- | :--- |
| GPU | 3x | 4x | 3x | 4x |
| router | – | kv | – | kv |
`
	if !strings.Contains(string(got), want) {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestMethodOfAClosedLoop: start_rate only fills a level, and think time keeps fewer turns in
// flight than conversations.
func TestMethodOfAClosedLoop(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}})
	method := func() string { return fmt.Sprint(FromRun(run).Method) }
	for _, want := range []string{"10 conversations/s until a level is full", "the mean in flight is lower"} {
		if !strings.Contains(method(), want) {
			t.Errorf("the method lacks %q: %s", want, method())
		}
	}
	run.Workload.Parameters = append(run.Workload.Parameters, runs.Parameter{Name: "think_time", Value: "0s … 0s"})
	if strings.Contains(method(), "the mean in flight is lower") {
		t.Errorf("without think time: %s", method())
	}
}

// TestNames: a plan without a title and a variant without a name are named after the model.
func TestNames(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40}})
	run.Title, run.Unnamed = "", true
	s := FromRun(run)
	if want := "Benchmark Sweep: model-70b Concurrency Scaling (40)"; s.Title != want || s.Series[0].Name != "model-70b" {
		t.Errorf("title %q, series %q; want %q", s.Title, s.Series[0].Name, want)
	}
}
