package workload

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"synthetic/internal/probe/workload/trace"
)

// TestExpectedOfDrawn compares the expected tokens of drawn conversations with the mean of planned ones.
func TestExpectedOfDrawn(t *testing.T) {
	lognormal := func(mean, sd, least, most float64) *Dist {
		return &Dist{Mean: mean, SD: sd, Min: least, Max: most}
	}
	long := Dists{Followup: lognormal(300, 300, 10, 4000), Prompt: lognormal(200, 100, 20, 900), Output: lognormal(50, 50, 5, 300)}
	for name, spec := range map[string]Spec{
		"without a bound": {TurnsMin: 2, TurnsMax: 24, Content: Content{SystemTokens: 700, Dists: long}, MaxOutputTokens: 50},
		"with a bound":    {TurnsMin: 2, TurnsMax: 24, Content: Content{SystemTokens: 700, Dists: long, ContextTokens: 3000}, MaxOutputTokens: 50},
		"a bound alone":   {TurnsMin: 2, TurnsMax: 30, PromptTokens: 100, FollowupTokens: 40, MaxOutputTokens: 30, Content: Content{ContextTokens: 900}},
		"scripts":         {TurnsMin: 9, PromptTokens: 100, Content: Content{Followups: []string{"Why?", "Tell me more about that."}, ContextTokens: 400}, MaxOutputTokens: 50},
		"turns":           {TurnsMin: 1, TurnsMax: 9, PromptTokens: 100, FollowupTokens: 30, Starters: 2},
	} {
		s, same := newSource(t, spec, 4), newSource(t, spec, 4)
		s.current, same.current = minCharsPerToken, minCharsPerToken // so that the texts are short
		const n = 500
		sum := 0.0
		for range n {
			c := s.Next()
			if context := s.EstimatePrompt(c, c.Turns) + s.EstimateOutput(c, c.Turns); spec.ContextTokens > 0 && context > spec.ContextTokens {
				t.Fatalf("%s: a context of %d", name, context)
			}
			if !reflect.DeepEqual(c, same.Next()) {
				t.Fatalf("%s: conversation %d is not repeatable", name, c.ID)
			}
			sum += float64(s.Estimate(c))
		}
		if got := s.ExpectedTokens(); math.Abs(got.Sum()*n/sum-1) > 0.1 || got.Cached > got.Prompt {
			t.Errorf("%s: expected %.0f tokens (%+v), planned %.0f", name, got.Sum(), got, sum/n)
		}
	}
}

// TestContextEndsConversations checks which turns a bound leaves.
func TestContextEndsConversations(t *testing.T) {
	for bound, want := range map[int]int{0: 5, 1: 1, 110: 1, 130: 1, 145: 2, 160: 2, 175: 3, 190: 3, 205: 4, 220: 4, 235: 5, 1000: 5} {
		c := newSource(t, Spec{TurnsMin: 5, PromptTokens: 100, FollowupTokens: 20, MaxOutputTokens: 10, Content: Content{ContextTokens: bound}, Starters: 1}).Next()
		if c.Turns != want || len(c.Followups) != want-1 || len(c.Think) != want-1 {
			t.Errorf("a bound of %d leaves %d turns, %d follow-ups and %d pauses, want %d turns", bound, c.Turns, len(c.Followups), len(c.Think), want)
		}
	}
}

// TestSystemTokens: all conversations and replicas of a workload share a generated system message; other
// workloads have their own.
func TestSystemTokens(t *testing.T) {
	spec := Spec{Name: "a", PromptTokens: 20, Content: Content{SystemTokens: 400}}
	systems := map[string]int{}
	for salt := range uint64(3) {
		for _, c := range plans(newSource(t, spec, salt), 5) {
			if c.Opening[0].Role != "system" {
				t.Fatalf("the first message is of the %s", c.Opening[0].Role)
			}
			systems[c.Opening[0].Content]++
		}
	}
	spec.Name = "b"
	other := newSource(t, spec).Next().Opening[0].Content
	if len(systems) != 1 || systems[other] > 0 || math.Abs(float64(len(other))-1800) > 20 {
		t.Errorf("%d system messages, one of another workload with %d characters", len(systems), len(other))
	}
}

// TestLongFollowupsAreDocuments checks that a long follow-up is a document with one question, within its length.
func TestLongFollowupsAreDocuments(t *testing.T) {
	for tokens, document := range map[int]bool{20: false, documentTokens: false, documentTokens + 1: true, 5000: true} {
		c := newSource(t, Spec{TurnsMin: 3, PromptTokens: 10, FollowupTokens: tokens}).Next()
		text := c.Followups[0]
		paragraphs := strings.Count(text, "\n\n")
		if chars := float64(tokens) * trace.CharsPerToken; (paragraphs > 0) != document || float64(len(text)) > chars || float64(len(text)) < 0.8*chars-20 || text == c.Followups[1] {
			t.Errorf("a follow-up of %d tokens has %d characters and %d paragraphs", tokens, len(text), paragraphs+1)
		}
		if document && (strings.Count(text, "?") != 1 || !strings.HasSuffix(text, "?")) {
			t.Errorf("a follow-up of %d tokens does not end with its only question", tokens)
		}
	}
}
