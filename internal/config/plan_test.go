package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

func testPresets() []string { return []string{"phase0", "eagle3"} }

// TestBadPlan loads every file of testdata/badplan and compares its mistakes with the "# want:" lines at its
// end.
func TestBadPlan(t *testing.T) {
	files, err := filepath.Glob("testdata/badplan/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 25 {
		t.Fatalf("found %d files, want at least 25", len(files))
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yml"), func(t *testing.T) {
			_, err := LoadPlan(path, testPresets())
			problems, ok := errors.AsType[yamlform.Errors](err)
			if !ok {
				t.Fatalf("got error %v of type %T, want Errors", err, err)
			}
			got := strings.ReplaceAll(err.Error(), path+":", "")
			if diff := cmp.Diff(wanted(t, path), strings.Split(got, "\n")); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "hunter") {
				t.Error("a message repeats a secret")
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Remedy == "" {
					t.Errorf("incomplete: %+v", p)
				}
			}
		})
	}
}

func TestGoodPlan(t *testing.T) {
	got, err := LoadPlan("testdata/goodplan/full.yml", testPresets())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Source.Text, "headers: (not kept)") || strings.Contains(got.Source.Text, "hunter") {
		t.Errorf("the kept text of the plan:\n%s", got.Source.Text)
	}
	if got.Source.File != "full.yml" || len(got.Source.SHA256) != 64 {
		t.Errorf("source %+v", got.Source)
	}
	got.Source = fleet.PlanFile{}
	half := 0.5
	want := fleet.Plan{
		About: fleet.About{
			Title:      "Everything",
			Deployment: []serverside.Setting{{Name: "Model", Value: "Llama", Source: "plan"}, {Name: "GPU", Value: "1x H200", Source: "plan"}},
		},
		Seed: 7,
		Variants: []fleet.Variant{
			{
				Name: "base",
				Target: target.Target{
					Name: "base", BaseURL: "http://127.0.0.1:8000/v1", Model: "llama", Connection: target.Reuse,
					Headers: map[string]string{"x-tenant": "hunter2"}, Session: target.DefaultSession(),
				},
				Metrics:    []string{"http://127.0.0.1:8000/metrics", "http://127.0.0.1:9090/metrics"},
				Switch:     []string{"./deploy", "base"},
				Deployment: []serverside.Setting{{Name: "max-num-seqs", Value: "128", Source: "plan"}},
			},
			{
				Name: "eagle3", Preset: "eagle3",
				Target: target.Target{
					Name: "eagle3", BaseURL: "http://eagle3.preset.invalid/v1",
					Connection: target.PerConversation, Session: target.DefaultSession(),
				},
				Metrics: []string{"http://eagle3.preset.invalid/metrics"},
			},
		},
		Workload: workload.Spec{
			Name: "chat", TurnsMin: 1, TurnsMax: 1, PromptTokens: 5806, FollowupTokens: 60, Starters: 20, Seed: 1,
			Answers: workload.Answers{Temperature: &half}, Users: workload.Users{ThinkMax: 2 * time.Second},
			Timeouts: workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: 120 * time.Second},
		},
		SLOs: []slo.Objective{
			{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
			{Name: "up", SLI: slo.Availability, Objective: 0.995},
		},
		Levels:   []float64{0.5, 1, 2},
		Arrivals: fleet.Arrivals{OpenLoop: true, MaxConcurrency: 400, Arrival: workload.Arrival{Process: workload.Gamma, Burstiness: 0.5}},
		WarmUp:   fleet.WarmUp{Conversations: 10, Rate: 0.5, Cooldown: 15 * time.Second},
		Measure:  fleet.Measure{Snapshots: 1, Conversations: 300}, Repetitions: 2, Order: fleet.Blocks,
		Pause: 30 * time.Second, Cache: fleet.Cache{Policy: fleet.Prime, Conversations: 5},
		Confidence: 0.95,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestLeastPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "least.yml")
	if err := os.WriteFile(path, []byte("variants: [{base_url: 'http://a:1'}]\nlevels: {concurrency: [1, 2]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadPlan(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "" || got.StartRate != 10 || got.WarmUp.Duration != time.Minute ||
		got.Measure.Duration() != 300*time.Second || len(got.SLOs) != 3 || got.Variants[0].Name != "a-1" {
		t.Errorf("%+v", got)
	}
	text := "variants: [{base_url: 'http://a:1'}]\nlevels: {concurrency: [1, 2], start_rate: 0}\n"
	if got, err = ParsePlan("plan.yml", []byte(text), nil); err != nil || got.StartRate != 1000 {
		t.Errorf("start_rate 0: %g conversations/s, %v", got.StartRate, err)
	}
}

// TestPlanWithRecall: a plan may ask for reference codes and judge the answers.
func TestPlanWithRecall(t *testing.T) {
	text := "variants: [{base_url: 'http://a:1'}]\nlevels: {concurrency: [1, 2]}\nworkload: {recall: 99%}\nslos: [{sli: correct, objective: 98%}]\n"
	got, err := ParsePlan("plan.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Workload.Recall != 0.99 || len(got.SLOs) != 1 || got.SLOs[0].SLI != slo.Correct || got.SLOs[0].Objective != 0.98 {
		t.Errorf("recall %g, SLOs %+v", got.Workload.Recall, got.SLOs)
	}
}
