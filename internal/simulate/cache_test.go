package simulate

import (
	"strings"
	"testing"
)

func TestCachedTokensRiseInAConversation(t *testing.T) {
	o := quick
	o.Answer = Length{Median: 100}
	d, c := serve(t, o)
	history := []message{{Role: "system", Content: content{"Be kind.", true}}, user(strings.Repeat("long opening ", 100))}
	previous := 0
	for turn := range 4 {
		got := c.say(t, history, "")
		// The previous turn is cached, prompt and answer, in full blocks.
		if want := previous / blockTokens * blockTokens; got.usage.Details.Cached != want {
			t.Errorf("turn %d: %d cached tokens, want %d", turn+1, got.usage.Details.Cached, want)
		}
		previous = got.usage.Total
		history = append(history, assistant(got.content), user("and then?"))
	}
	if s := d.Stats(); s.CachedTokens == 0 || s.CachedTokens >= s.PromptTokens {
		t.Errorf("stats %+v", s)
	}
}

func TestPrefixCache(t *testing.T) {
	prompt := func(text string) *chain { return newPrompt([]message{user(text)}, blockTokens) }
	// 3 + 57 + 1 + 3 tokens: exactly 4 blocks.
	full := strings.Repeat("abcd", 57)

	p := newPrefixCache()
	if got := p.use(prompt(full), 100); got != 0 {
		t.Errorf("%d cached tokens in an empty cache", got)
	}
	if got := p.use(prompt(full), 100); got != 48 {
		t.Errorf("%d cached tokens of a cached prompt of 64, want 48: the last token is always computed", got)
	}
	if got := p.use(prompt("Xbcd"+full[4:]), 100); got != 0 {
		t.Errorf("%d cached tokens after a different start", got)
	}
	if got := p.order.Len(); got != 8 {
		t.Errorf("%d blocks, want 8", got)
	}
	p.use(prompt(full), 100)
	p.use(prompt("Ybcd"), 6)
	if got := p.use(prompt(full), 6); got != 48 {
		t.Errorf("%d cached tokens of the most recently used prompt, want 48", got)
	}
	if got := p.order.Len(); got != 6 || len(p.index) != 6 {
		t.Errorf("%d and %d blocks after shrinking, want 6", got, len(p.index))
	}
	if p.use(prompt(full), 0); p.order.Len() != 0 {
		t.Errorf("%d blocks in a cache for none", p.order.Len())
	}
}

func TestTokensOfAHistory(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "äöü€": 1, strings.Repeat("x", 401): 101} {
		if got := newPrompt([]message{user(text)}, blockTokens).tokens - 7; got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
	a, b := newPrompt([]message{user("abcd"), user("e")}, blockTokens), newPrompt([]message{user("abcde")}, blockTokens)
	if a.hash == b.hash {
		t.Error("different histories have the same hash")
	}
}

func TestAnswerHasTheSameBlocksInAHistory(t *testing.T) {
	history := []message{user(strings.Repeat("a question ", 20))}
	c := newPrompt(history, blockTokens)
	text := newAnswer(1, c.hash)
	var whole string
	for _, n := range []int{1, 3, 2, 60} {
		part := text.next(n)
		c.addText(part)
		whole += part
	}
	next := newPrompt(append(history, assistant(whole), user("more")), blockTokens)
	for i, b := range c.blocks {
		if next.blocks[i] != b {
			t.Fatalf("block %d of %d of the generated answer differs from the answer as history", i, len(c.blocks))
		}
	}
}
