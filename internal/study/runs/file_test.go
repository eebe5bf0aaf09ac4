package runs

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func objectives() []slo.Objective {
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99},
	}
}

// turn returns a successful answer of 100 tokens.
func turn(kind probe.TurnKind, ttft, tpot time.Duration) probe.Result {
	return probe.Result{
		Kind: kind, Outcome: probe.Success, Sent: noon, End: noon.Add(ttft + 99*tpot),
		TTFT: probe.Some(ttft), TPOT: probe.Some(tpot),
		Asked:  probe.Asked{Scheduled: noon},
		Timing: probe.Timing{AnswerTTFT: probe.Some(ttft), Gaps: []time.Duration{tpot, tpot}, Events: 100},
		Tokens: probe.Tokens{PromptTokens: probe.Some(4000), CachedTokens: probe.Some(3600), OutputTokens: probe.Some(100)},
	}
}

// example returns a small complete run.
func example() *Run {
	rng := rand.New(rand.NewPCG(1, 2))
	mean, most := 49.5, 50
	r := &Run{
		Origin: Origin{
			Format: Format, Generated: noon, Tool: Tool{Name: "synthetic", Version: "1"}, Title: "Example",
			Plan: Plan{Text: "levels: [50]\n", SHA256: "ab"}, Seed: 7,
		},
		Method:   Method{LevelKind: Concurrency, Snapshots: 1, Repetitions: 1, MeasurementSeconds: 20},
		Workload: Workload{Name: "chat", Summary: "Multi-turn chat"},
		SLOs:     []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99}},
		Variants: []string{"round_robin"},
	}
	var blocks []Block
	for range 2 {
		b := Block{Seconds: 10, TurnsStarted: 30}
		for i := range 30 {
			kind := probe.TurnKinds()[i%2]
			b.Observe(new(turn(kind, time.Duration(2e8*(1+rng.Float64())), 40*time.Millisecond)), objectives())
		}
		b.Observe(&probe.Result{Kind: probe.First, Outcome: probe.HTTP429}, objectives())
		blocks = append(blocks, b)
	}
	r.Results = []Result{{
		Variant: "round_robin", Level: 50, Repetition: 1, Started: noon, Ended: noon.Add(20 * time.Second), State: Complete,
		Snapshots: []Snapshot{{Started: noon, Seconds: 20, Blocks: blocks, InFlightMean: &mean, InFlightMax: &most,
			Server: []serverside.Summary{{Source: "http://x/metrics", Families: []string{"vllm:num_requests_waiting"}, Figures: map[string]float64{serverside.QueueMean: 2}}}}},
	}}
	return r
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	want := example()
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(same)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 1 {
		t.Errorf("%d files left in the directory, want the run alone", len(entries))
	}
}

func same(a, b *sketch.Sketch) bool {
	if a == nil || b == nil {
		return a == b
	}
	for _, q := range []float64{0, 0.01, 0.5, 0.99, 1} {
		if a.Quantile(q) != b.Quantile(q) {
			return false
		}
	}
	return a.Count() == b.Count() && a.Sum() == b.Sum()
}

func TestReadRefuses(t *testing.T) {
	whole, err := Encode(example())
	if err != nil {
		t.Fatal(err)
	}
	broken := func(change func(*Run)) string {
		r := example()
		change(r)
		_, err := Encode(r)
		return err.Error()
	}
	tests := []struct{ name, data, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \n\n", "the file is empty"},
		{"half", string(whole[:len(whole)/2]), "ends in the middle of a value"},
		{"without the last brace", strings.TrimRight(string(whole), "}\n"), "ends in the middle of a value"},
		{"twice", string(whole) + string(whole), "data follow the end"},
		{"no JSON", "# Report\n", "line 1, column 2: not JSON"},
		{"other JSON", `{"levels": []}`, `"format" is missing`},
		{"wrong type", "{\"format\": 1,\n\"title\": 3}", `line 2, column 11: "title" must be a text, not number`},
		{"wrong type in a distribution", strings.Replace(string(whole), `"count":`, `"count":"x","was":`, 1), `reading a distribution: "count" must be a whole number in range, not string`},
		{"newer", `{"format": 99}`, "use the synthetic that wrote it"},
		{"older", `{"format": 1}`, "use the synthetic that wrote it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	mistyped := strings.Replace(string(whole), `"threshold_seconds": 1`, `"threshold_seconds": "1s"`, 1)
	want := `reading an SLO: "threshold_seconds" must be a number, not string; use the copy`
	if _, err := Parse([]byte(mistyped)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q without a place in the file", err, want)
	}
	contradictions := []struct {
		name, want string
		change     func(*Run)
	}{
		{"level kind", `"level_kind" is "speed"`, func(r *Run) { r.LevelKind = "speed" }},
		{"no variants", `"variants" is empty`, func(r *Run) { r.Variants = nil }},
		{"other variant", `"x" is not among the variants`, func(r *Run) { r.Results[0].Variant = "x" }},
		{"twice", "results[1] (round_robin, level 50, repetition 1): measured twice", func(r *Run) { r.Results = append(r.Results, r.Results[0]) }},
		{"a wild level", "a level of 1e+300", func(r *Run) { r.Results[0].Level = 1e300 }},
		{"a wild time", "1e+300 seconds were measured", func(r *Run) { r.Results[0].Snapshots[0].Seconds = 1e300 }},
		{"no time", "blocks[1]: 1e-300 seconds were measured", func(r *Run) { r.Results[0].Snapshots[0].Blocks[1].Seconds = 1e-300 }},
		{"a share of all", `slos[0] "ttft": a share of 1`, func(r *Run) { r.SLOs[0].Objective = 1 }},
		{"a wild threshold", `slos[0] "ttft": a share of 0.99 within -1s`, func(r *Run) { r.SLOs[0].Threshold = -time.Second }},
		{"level", "a level of -1", func(r *Run) { r.Results[0].Level = -1 }},
		{"repetition", "count from 1", func(r *Run) { r.Results[0].Repetition = 0 }},
		{"state", `state "done"`, func(r *Run) { r.Results[0].State = "done" }},
		{"nothing measured", "has no snapshot", func(r *Run) { r.Results[0].Snapshots = nil }},
		{"no time", "snapshots[0]: 0 seconds", func(r *Run) { r.Results[0].Snapshots[0].Seconds = 0 }},
		{"outcome", `blocks[0]: unknown outcome "fine"`, func(r *Run) { r.Results[0].Snapshots[0].Blocks[0].Outcomes["fine"] = 1 }},
	}
	for _, tt := range contradictions {
		t.Run(tt.name, func(t *testing.T) {
			if got := broken(tt.change); !strings.Contains(got, tt.want) {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	var b Block
	cut := turn(probe.Followup, 300*time.Millisecond, 40*time.Millisecond)
	cut.Outcome = probe.Truncated
	silent := probe.Result{Kind: probe.First, Outcome: probe.TimeoutFirstToken, Sent: noon, End: noon.Add(time.Minute)}
	for _, r := range []probe.Result{
		turn(probe.First, 200*time.Millisecond, 40*time.Millisecond),
		turn(probe.First, 2*time.Second, 40*time.Millisecond),
		cut, silent, {Outcome: probe.Canceled},
	} {
		b.Observe(&r, objectives())
	}
	if b.Good != 1 {
		t.Errorf("%d good turns, want 1", b.Good)
	}
	want := map[string]Judged{"ttft": {Good: 2, Bad: 2, Failed: 1}, "tpot": {Good: 2, Bad: 2, Failed: 2}}
	if diff := cmp.Diff(want, b.SLOs); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	if d := b.First.TTFT; d.Values.Count() != 2 || d.Failures != 1 {
		t.Errorf("first TTFT: %d values, %d failures; want 2 and 1", d.Values.Count(), d.Failures)
	}
	if d := b.Followup; d.TTFT.Values.Count() != 1 || d.Latency.Values != nil || d.Latency.Failures != 1 {
		t.Errorf("a cut answer has %d TTFT, latencies %v and %d failures; want 1, none, 1", d.TTFT.Values.Count(), d.Latency.Values, d.Latency.Failures)
	}
	if *b.Tokens.CachedOf != 12000 || *b.Tokens.Cached != 10800 || b.Tokens.Output != 300 {
		t.Errorf("tokens %+v", b.Tokens)
	}
}
