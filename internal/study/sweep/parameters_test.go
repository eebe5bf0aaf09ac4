package sweep

import (
	"testing"
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/study/runfile"
)

func TestDiffers(t *testing.T) {
	chat := func(change func(*workload.Spec)) workload.Spec {
		w := workload.Spec{Name: "chat", TurnsMin: 3, TurnsMax: 5, PromptTokens: 500, FollowupTokens: 60, Starters: 10, MaxOutputTokens: 128}
		change(&w)
		return w
	}
	same := func(*workload.Spec) {}
	recorded := func(o trace.Options) func(*workload.Spec) {
		return func(w *workload.Spec) { w.Trace = workload.Trace{File: "x.jsonl", Options: o} }
	}
	for name, tt := range map[string]struct {
		here, there func(*workload.Spec)
		want        string
	}{
		"equal":               {same, same, ""},
		"another name":        {func(w *workload.Spec) { w.Name = "x" }, same, ""},
		"another seed":        {func(w *workload.Spec) { w.Seed = 7 }, same, ""},
		"other timeouts":      {func(w *workload.Spec) { w.Timeouts.Total = 7 }, same, ""},
		"longer prompts":      {func(w *workload.Spec) { w.PromptTokens = 800 }, same, "prompt_tokens is 800 here and was 500 there"},
		"fewer turns":         {func(w *workload.Spec) { w.TurnsMax = 3 }, same, "turns is 3 here and was 3-5 there"},
		"system message here": {func(w *workload.Spec) { w.System = "Be brief." }, same, "system is Be brief. here and was none there"},
		"tools here":          {func(w *workload.Spec) { w.Tools = []workload.Tool{{Name: "get_time"}} }, same, "tools[0] is get_time here and was none there"},
		"a format there":      {same, func(w *workload.Spec) { w.ResponseSchema = map[string]any{"type": "object"} }, "response_schema is none here and was b484d4f06d032edd there"},
		"recall here":         {func(w *workload.Spec) { w.Recall = 0.99 }, same, "recall is 0.99 here and was none there"},
		"other pauses":        {recorded(trace.Options{MaxPause: time.Minute}), recorded(trace.Options{}), ""},
		"other blocks":        {recorded(trace.Options{BlockTokens: 64}), recorded(trace.Options{}), "block_tokens is 64 here and was none there"},
		"script there":        {same, func(w *workload.Spec) { w.Followups = []string{"Why?"} }, "followups[0] is none here and was Why? there"},
	} {
		run := Plan{Workload: chat(tt.there), Kind: runfile.Concurrency}.workload().Parameters
		if got := Differs(chat(tt.here), run); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := Differs(chat(same), nil); got != "" {
		t.Errorf("a file that does not say what was said differs: %q", got)
	}
}

// TestMaxPause checks that reports name the longest pause of a trace.
func TestMaxPause(t *testing.T) {
	p := Plan{Workload: workload.Spec{Trace: workload.Trace{File: "x.jsonl", Options: trace.Options{MaxPause: time.Minute}}}}
	if got, _ := valueOf(p.workload().Parameters, "max_pause"); got != "1m0s" {
		t.Errorf("max_pause is %s", got)
	}
}
