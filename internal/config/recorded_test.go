package config

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

func planOf(t *testing.T, text string) sweep.Plan {
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

// TestTracePlan checks the levels of a plan with speeds.
func TestTracePlan(t *testing.T) {
	file, err := filepath.Abs("../probe/workload/trace/testdata/azure.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, "levels: {speed: [1, 4], max_concurrency: 50, ramp: {from: 20%, over: 30s}}\nworkload: {trace: {file: "+file+", to: 30s}}")
	// Two records within 4.31 s, and an equal pause after them.
	if own := 2 / (2 * 4.314579); p.Kind != runfile.Rate || math.Abs(p.OwnRate-own) > 1e-9 || !cmp.Equal(p.Levels, []float64{0.2318, 0.9271}) || p.MaxConcurrency != 50 {
		t.Errorf("kind %s, own rate %g, levels %g, at most %d", p.Kind, p.OwnRate, p.Levels, p.MaxConcurrency)
	}
	if want := (sweep.Ramp{From: 0.2, Over: 30 * time.Second}); p.Ramp != want {
		t.Errorf("ramp %+v, want %+v", p.Ramp, want)
	}
	if w := p.Workload; w.Trace.File != file || w.Trace.To != 30*time.Second || w.PromptTokens != 0 || w.Starters != 0 || w.TurnsMax != 0 || w.MaxOutputTokens != 128 {
		t.Errorf("workload %+v", w)
	}
}

// TestDrawnPlan checks that other keys see the means of distributions.
func TestDrawnPlan(t *testing.T) {
	p := planOf(t, `levels: {rate: [2]}
workload:
  prompt_tokens: 300
  cancel: 5%
  clients:
    - {share: 3, process: gamma, burstiness: 0.5, distributions: {prompt_tokens: {shape: fixed, mean: 100}, turns: {shape: fixed, mean: 1}}}
    - {distributions: {output_tokens: {shape: fixed, mean: 528}, turns: {shape: fixed, mean: 5}}}
`)
	w := p.Workload
	if w.PromptTokens != 150 || w.MaxOutputTokens != 228 || w.TurnsMin != 2 || w.TurnsMax != 2 || p.OwnRate != 1 {
		t.Errorf("%d prompt, %d output tokens, %d … %d turns, own rate %g", w.PromptTokens, w.MaxOutputTokens, w.TurnsMin, w.TurnsMax, p.OwnRate)
	}
	if len(w.Clients) != 2 || w.Clients[0].Burstiness != 0.5 || w.Clients[1].Share != 1 || w.Clients[1].Turns.Mean != 5 || w.Clients[1].Prompt != nil {
		t.Errorf("clients %+v", w.Clients)
	}
	if want := (workload.Cancel{Share: 0.05, Min: time.Second, Max: 10 * time.Second}); w.Cancel != want {
		t.Errorf("cancel %+v, want %+v", w.Cancel, want)
	}
}

// TestFolderOfSessions checks a plan that replays the sessions of a folder, whose pauses are limited.
func TestFolderOfSessions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a1.json", "a2.json"} {
		text := `{"id": "` + name + `", "block_size": 64, "requests": [
 {"t": 0, "type": "n", "in": 200, "out": 20, "hash_ids": [1, 2, 3], "api_time": 2},
 {"t": 90, "type": "n", "in": 260, "out": 0, "hash_ids": [1, 2, 3, 4], "api_time": 2}]}`
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := planOf(t, "levels: {concurrency: [2]}\nworkload: {trace: {file: "+dir+", max_pause: 10s}}")
	if w := p.Workload; w.Trace.File != dir || w.Trace.MaxPause != 10*time.Second || p.OwnRate != 0 {
		t.Errorf("trace %+v, own rate %g", w.Trace, p.OwnRate)
	}
}
