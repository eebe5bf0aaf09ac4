package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
)

func planOf(t *testing.T, text string) fleet.Plan {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.yml")
	if err := os.WriteFile(path, []byte("variants: [{base_url: \"http://h:8000/v1\"}]\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := LoadPlan(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTracePlan checks a plan whose workload is a trace.
func TestTracePlan(t *testing.T) {
	file, err := filepath.Abs("../probe/workload/trace/testdata/azure.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, "levels: {rate: [1, 4], max_concurrency: 50}\nworkload: {trace: {file: "+file+"}}")
	if !p.OpenLoop || !cmp.Equal(p.Levels, []float64{1, 4}) || p.MaxConcurrency != 50 {
		t.Errorf("open loop %v, levels %g, at most %d", p.OpenLoop, p.Levels, p.MaxConcurrency)
	}
	if w := p.Workload; w.Trace.File != file || w.PromptTokens != 0 || w.Starters != 0 || w.TurnsMax != 0 || w.MaxOutputTokens != 128 {
		t.Errorf("workload %+v", w)
	}
}

// TestDrawnPlan checks that other keys see the means of distributions.
func TestDrawnPlan(t *testing.T) {
	p := planOf(t, `levels: {rate: [2]}
workload:
  cancel: 5%
  distributions: {prompt_tokens: {mean: 150, sd: 0}}
`)
	w := p.Workload
	if w.PromptTokens != 150 || w.MaxOutputTokens != 128 {
		t.Errorf("%d prompt, %d output tokens", w.PromptTokens, w.MaxOutputTokens)
	}
	if want := (workload.Cancel{Share: 0.05, Min: time.Second, Max: 10 * time.Second}); w.Cancel != want {
		t.Errorf("cancel %+v, want %+v", w.Cancel, want)
	}
}
