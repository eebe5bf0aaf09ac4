package workload

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/probe/answers/recall"
)

func recalling() Spec {
	return Spec{TurnsMin: 3, TurnsMax: 5, PromptTokens: 500, FollowupTokens: 60, Starters: 10, Seed: 7, Content: Content{Recall: 1}}
}

// texts returns all texts of a conversation in their order.
func texts(c Conversation) string { return user(c) + "\n" + strings.Join(c.Followups, "\n") }

// TestReferencesAreInTheTexts: each planned code is in the texts once, with its number, and no other code
// is. Each follow-up asks for a reference that an earlier message gives.
func TestReferencesAreInTheTexts(t *testing.T) {
	asked := map[int]int{}
	for _, spec := range []Spec{
		recalling(),
		{TurnsMin: 2, TurnsMax: 4, PromptTokens: 20, FollowupTokens: 5, Content: Content{Recall: 1}},
		{TurnsMin: 4, TurnsMax: 4, PromptTokens: 5000, Content: Content{Followups: []string{"Why?", "And then?"}, Recall: 0.5}},
	} {
		for _, c := range plans(newSource(t, spec), 200) {
			if found := recall.Find(texts(c)); !reflect.DeepEqual(found, c.References) {
				t.Fatalf("the texts have the codes %q, the plan %q:\n%s", found, c.References, texts(c))
			}
			for i, code := range c.References {
				if !strings.Contains(texts(c), recall.Statement(i+1, code)) {
					t.Errorf("reference %d is not stated in\n%s", i+1, texts(c))
				}
			}
			for k, n := range c.Asked {
				if has := strings.Contains(c.Followups[k], "Begin your answer"); has != (n > 0) {
					t.Errorf("follow-up %q, planned for reference %d", c.Followups[k], n)
				}
				if n == 0 {
					continue
				}
				asked[n]++
				if slices.Contains(c.Asked[:k], n) {
					t.Errorf("reference %d is asked for twice: %v", n, c.Asked)
				}
				given := user(c) + strings.Join(c.Followups[:k], "\n")
				if !strings.HasSuffix(c.Followups[k], recall.Request(n)) || !strings.Contains(given, string(c.References[n-1])) {
					t.Errorf("follow-up %q asks for reference %d, given in:\n%s", c.Followups[k], n, given)
				}
			}
		}
	}
	for n := 1; n <= 5; n++ {
		if asked[n] < 20 {
			t.Errorf("reference %d is asked for %d times", n, asked[n])
		}
	}
}

// TestReferencesStandAtKnownDepths: an opening has references at its start, middle and end.
func TestReferencesStandAtKnownDepths(t *testing.T) {
	for _, c := range plans(newSource(t, recalling()), 50) {
		text := user(c)
		for i, want := range []float64{0, 0.5, 1} {
			at := float64(strings.Index(text, string(c.References[i]))) / float64(len(text))
			if at < want-0.25 || at > want+0.25 {
				t.Errorf("reference %d is at %.2f of the opening, want about %v", i+1, at, want)
			}
		}
	}
}

// TestReferencesDoNotChangeTheRest: turns, pauses, patience and lengths are those without references, but follow-ups
// are shorter, because codes have more tokens than other text.
func TestReferencesDoNotChangeTheRest(t *testing.T) {
	with, without := recalling(), recalling()
	without.Recall = 0
	a, b := plans(newSource(t, with), 100), plans(newSource(t, without), 100)
	for i := range a {
		if a[i].Turns != b[i].Turns || !slices.Equal(a[i].Think, b[i].Think) {
			t.Fatalf("conversation %d differs", i)
		}
		for k, text := range append([]string{user(a[i])}, a[i].Followups...) {
			other := append([]string{user(b[i])}, b[i].Followups...)[k]
			want := 0
			if k > 0 {
				want = -codeExcess
			}
			if d := len(text) - len(other) - want; d < -40 || d > 40 {
				t.Errorf("text %d has %d characters with references and %d without", k, len(text), len(other))
			}
		}
		if len(b[i].References)+len(b[i].Asked) > 0 || len(recall.Find(texts(b[i]))) > 0 {
			t.Fatal("references although the workload asks for none")
		}
	}
}

// TestSharedOpeningsStayShared: conversations share openings with their codes, and the codes of
// follow-ups belong to one conversation.
func TestSharedOpeningsStayShared(t *testing.T) {
	openings, codes := map[string]bool{}, map[recall.Code]int{}
	all := plans(newSource(t, recalling()), 200)
	for _, c := range all {
		openings[user(c)] = true
		for _, code := range c.References[3:] {
			codes[code]++
		}
	}
	if len(openings) != 10 {
		t.Errorf("%d openings, want 10", len(openings))
	}
	for code, n := range codes {
		if n > 1 {
			t.Errorf("%d conversations have the code %s of their own", n, code)
		}
	}
	other := newSource(t, recalling(), 5).Next()
	if len(recall.Find(user(other))) != 3 || !openings[user(other)] {
		t.Error("another process does not share the openings")
	}
}

// TestReferencesKeepTheSharedPrefix: openings of nearly equal lengths share as much text as without references.
func TestReferencesKeepTheSharedPrefix(t *testing.T) {
	shared := func(share float64, index uint64) int {
		spec := recalling()
		spec.Recall = share
		s := newSource(t, spec)
		text := func(tokens int) string {
			chars := s.chars(tokens)
			return s.composeWith(s.openingReferences(index, chars), index, chars)
		}
		a, b, n := text(2000), text(2080), 0
		for n < len(a) && a[n] == b[n] {
			n++
		}
		return n
	}
	for index := range uint64(20) {
		if with, without := shared(1, index), shared(0, index); float64(with) < 0.97*float64(without) {
			t.Errorf("opening %d: %d characters are shared with references, %d without", index, with, without)
		}
	}
}

// TestShareOfAskingFollowups compares the share with the configured one.
func TestShareOfAskingFollowups(t *testing.T) {
	spec := recalling()
	spec.Recall = 0.25
	asking, all := 0, 0
	for _, c := range plans(newSource(t, spec), 1000) {
		for _, n := range c.Asked {
			all++
			asking += min(n, 1)
		}
	}
	if share := float64(asking) / float64(all); share < 0.2 || share > 0.3 {
		t.Errorf("%.2f of the follow-ups ask, want 0.25", share)
	}
}
