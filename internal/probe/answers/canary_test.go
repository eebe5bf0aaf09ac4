package answers

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func tokens(texts string, logprobs ...float64) []Token {
	var out []Token
	for i, text := range strings.Fields(texts) {
		out = append(out, Token{Text: text, Logprob: logprobs[i]})
	}
	return out
}

func TestTokenDistance(t *testing.T) {
	want := tokens("a b c", -0.1, -0.2, -0.3)
	tie := tokens("a x y", -0.1, -0.69, -3)
	tie[1].Others = tokens("x b", -0.69, -0.7)
	unknown := tokens("a x y", -0.1, -0.69, -3)
	unknown[1].Others = tokens("x z", -0.69, -1.2)
	for name, test := range map[string]struct {
		got  []Token
		want float64
	}{
		"the same":                       {want, 0},
		"a little off":                   {tokens("a b c", -0.1, -0.2, -0.6), 0.1},
		"a tie that falls the other way": {tie, 0.25}, // the distance of b; later tokens do not count
		"not among the likely":           {unknown, 0.5},
		"minus infinity":                 {tokens("a", math.Inf(-1)), maxTokenDistance},
		"no number":                      {tokens("a", math.NaN()), maxTokenDistance},
		"ended early":                    {tokens("a b", -0.1, -0.2), maxTokenDistance / 3.},
		"nothing":                        {nil, maxTokenDistance},
	} {
		if got := tokenDistance(want, test.got); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: distance %v, want %v", name, got, test.want)
		}
	}
}

func TestTextDistance(t *testing.T) {
	p := usualAnswer{Texts: []string{"abcd", "abxx"}}
	for text, want := range map[string]float64{"abcd": 0.25, "abxx": 0.25, "zzzz": 1, "": 1} {
		if got := p.textDistance(text); got != want {
			t.Errorf("%q differs by %v, want %v", text, got, want)
		}
	}
}

// rounds repeats one answer to one prompt.
func rounds(a CanaryAnswer) []Round {
	out := make([]Round, LeastRounds)
	for i := range out {
		out[i] = Round{a}
	}
	return out
}

func TestAReferenceIsWrittenAndRead(t *testing.T) {
	r, err := NewReference([]string{"p"}, rounds(CanaryAnswer{"a b", tokens("a b", -0.5, -1)}))
	if err != nil {
		t.Fatal(err)
	}
	r.Recorded, r.Target, r.Model, r.Tokens = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "chat", "m", 8
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "chat.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(data))
	read, err := Read(path)
	if diff := cmp.Diff(r, read); err != nil || diff != "" {
		t.Errorf("%v: (-written +read)\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"no JSON": "{", "version 9": strings.Replace(string(data), `"version": 1`, `"version": 9`, 1),
		"no prompts":        strings.Replace(string(data), `"prompts": [`, `"x": [`, 1),
		"no distances":      strings.Replace(string(data), `"distances": [`, `"x": [`, 1),
		"no answer to them": strings.Replace(string(data), `"texts": [`, `"x": [`, 1),
	} {
		write(text)
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "synthetic canary record") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := NewReference([]string{"p"}, nil); err == nil {
		t.Error("a reference was created from no rounds")
	}
	if _, err := NewReference([]string{"p"}, rounds(CanaryAnswer{})); err == nil || !strings.Contains(err.Error(), "raise answers.canary.tokens") {
		t.Errorf("creating a reference from empty answers: %v", err)
	}
}

func TestARoundIsCompared(t *testing.T) {
	ref, err := NewReference([]string{"p"}, rounds(CanaryAnswer{"a b", tokens("a b", -0.5, -1)}))
	if err != nil {
		t.Fatal(err)
	}
	w, at := NewWatch(ref, 5*time.Minute), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if r := w.Compare(Round{{Text: "a b"}}, at); r.Err == nil {
		t.Error("a round without log-probabilities was compared with them")
	}
	if r := w.Compare(nil, at); r.Err == nil {
		t.Error("a round without answers was compared")
	}
	var r Reading
	for range 50 {
		at = at.Add(time.Minute)
		r = w.Compare(Round{{"a x", tokens("a x", -0.9, -1)}}, at)
	}
	if r.Score != 1 || r.Since.IsZero() || !r.Since.Before(at) || r.Was != "a b" || r.Is != "a x" || r.Prompt != "p" {
		t.Errorf("after a change: %+v", r)
	}
	for range 50 {
		r = w.Compare(Round{{"a b", tokens("a b", -0.5, -1)}}, at)
	}
	if r.Score >= 1 || !r.Since.IsZero() {
		t.Errorf("after its end: %+v", r)
	}
	for range 50 {
		r = w.Compare(Round{{}}, at)
	}
	if r.Err != nil || r.Score != 1 || r.Distance != maxTokenDistance {
		t.Errorf("with a model that gives empty answers: %+v", r)
	}
}
