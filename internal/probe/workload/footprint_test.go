package workload

import (
	"math"
	"testing"
	"time"
)

// TestExpected compares the estimate with the average of many planned conversations.
func TestExpected(t *testing.T) {
	specs := map[string]Spec{
		"default":         {TurnsMin: 3, TurnsMax: 5, PromptTokens: 500, FollowupTokens: 60, Starters: 10, MaxOutputTokens: 128},
		"unique openings": {TurnsMin: 1, TurnsMax: 4, PromptTokens: 300, FollowupTokens: 40, MaxOutputTokens: 64, Content: Content{System: "Be brief."}},
		"one turn":        {TurnsMin: 1, TurnsMax: 1, PromptTokens: 900, Starters: 3, MaxOutputTokens: 16},
		"a script":        {TurnsMin: 2, TurnsMax: 6, PromptTokens: 200, Starters: 2, MaxOutputTokens: 32, Content: Content{Followups: []string{"Why?", "Tell me a good deal more about that, please."}}},
		"no limit":        {TurnsMin: 2, TurnsMax: 2, PromptTokens: 200, Starters: 2},
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			s, err := NewSource(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			const n = 3000
			sum := 0
			for range n {
				sum += s.Estimate(s.Next())
			}
			got, want := s.ExpectedTokens(), float64(sum)/n
			if math.Abs(got.Sum()-want) > 0.03*want {
				t.Errorf("a conversation takes %.0f tokens, %.0f are planned", got.Sum(), want)
			}
			if got.Cached < 0 || got.Cached > got.Prompt || spec.Starters > 0 && got.Cached == 0 {
				t.Errorf("%.0f of %.0f prompt tokens may be cached", got.Cached, got.Prompt)
			}
		})
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 999: "999", 999.6: "1 k", 55.13e6: "55.1 M", 7e9: "7 G", 2e13: "2e+04 G"} {
		if got := Amount(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}

// TestABudgetHoldsBursts checks that the footprint of bursts is within the budget.
func TestABudgetHoldsBursts(t *testing.T) {
	const calm, bursts = 2880 * 1000, 1920 * 1000 // four an hour, 20 more conversations each
	for name, tt := range map[string]struct {
		budget TokenBudget
		want   Footprint
	}{
		"no budget":       {TokenBudget{}, Footprint{Day: Tokens{Prompt: calm}, Bursts: Tokens{Prompt: bursts}}},
		"enough for all":  {TokenBudget{calm + bursts, 24 * time.Hour}, Footprint{Day: Tokens{Prompt: calm}, Bursts: Tokens{Prompt: bursts}}},
		"for some bursts": {TokenBudget{calm + 500_000, 24 * time.Hour}, Footprint{Day: Tokens{Prompt: calm}, Bursts: Tokens{Prompt: 500_000}, LimitedByBudget: true}},
		"for none":        {TokenBudget{calm / 2, 24 * time.Hour}, Footprint{Day: Tokens{Prompt: calm / 2}, LimitedByBudget: true}},
		"of a minute":     {TokenBudget{2001, time.Minute}, Footprint{Day: Tokens{Prompt: calm}, Bursts: Tokens{Prompt: 1440}, LimitedByBudget: true}},
	} {
		tr := wary()
		tr.Budget = tt.budget
		got := tr.Footprint(Tokens{Prompt: 1000})
		if math.Abs(got.Day.Sum()-tt.want.Day.Sum()) > 1 || math.Abs(got.Bursts.Sum()-tt.want.Bursts.Sum()) > 1 || got.LimitedByBudget != tt.want.LimitedByBudget {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
