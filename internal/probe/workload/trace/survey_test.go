package trace

import (
	"math"
	"testing"
)

func TestSurvey(t *testing.T) {
	for name, want := range map[string]Summary{
		"mooncake.jsonl":       {Records: 3, Prompt: 3000, Cached: 3000, Output: 55},
		"azure.csv":            {Records: 3, Prompt: 20760, Output: 5153},
		"vllm-multi-turn.json": {Records: 2, Prompt: (15+15+10+12)/4.5 + 100, Cached: (15+15+10+12)/4.5 + 100, Output: 300},
	} {
		got, err := Survey("testdata/"+name, Options{}, 100)
		if near := math.Abs(got.Prompt-want.Prompt) < 1e-6 && math.Abs(got.Cached-want.Cached) < 1e-6; err != nil || !near {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		want.LeftOut.Of = want.Records
		if got.Prompt, got.Cached = want.Prompt, want.Cached; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
