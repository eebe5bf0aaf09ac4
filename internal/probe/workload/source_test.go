package workload

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"synthetic/internal/probe/workload/trace"
)

func newSource(t *testing.T, spec Spec, salt ...uint64) *Source {
	t.Helper()
	s, err := NewSource(spec, append(salt, 0)[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plans(s *Source, n int) []Conversation {
	all := make([]Conversation, n)
	for i := range all {
		all[i] = s.Next()
	}
	return all
}

func user(c Conversation) string { return c.Opening[len(c.Opening)-1].Content }

func TestPlansAreRepeatable(t *testing.T) {
	spec := Spec{TurnsMin: 2, TurnsMax: 5, PromptTokens: 300, FollowupTokens: 20, Starters: 4, Seed: 7, Users: Users{ThinkMax: time.Second}}
	a, b := plans(newSource(t, spec), 20), plans(newSource(t, spec), 20)
	if !reflect.DeepEqual(a, b) {
		t.Error("two sources of one seed differ")
	}
	spec.Seed = 8
	if c := plans(newSource(t, spec), 20); user(c[0]) == user(a[0]) || reflect.DeepEqual(a, c) {
		t.Error("sources of different seeds are equal")
	}
}

func TestPlansStayInTheirBounds(t *testing.T) {
	spec := Spec{
		TurnsMin: 2, TurnsMax: 4, PromptTokens: 400, FollowupTokens: 25, Starters: 3,
		Content: Content{System: "Be brief."}, Users: Users{ThinkMin: time.Second, ThinkMax: 3 * time.Second},
	}
	turns := map[int]int{}
	for i, c := range plans(newSource(t, spec), 200) {
		turns[c.Turns]++
		if c.ID != uint64(i) {
			t.Fatalf("conversation %d has ID %d", i, c.ID)
		}
		if len(c.Followups) != c.Turns-1 || len(c.Think) != c.Turns-1 {
			t.Fatalf("%d turns with %d follow-ups and %d pauses", c.Turns, len(c.Followups), len(c.Think))
		}
		if len(c.Opening) != 2 || c.Opening[0].Role != "system" || c.Opening[0].Content != "Be brief." || c.Opening[1].Role != "user" {
			t.Fatalf("opening %.80v", c.Opening)
		}
		if want := len("Be brief.") + len(user(c)); c.CharsOpening != want {
			t.Fatalf("CharsOpening is %d, want %d", c.CharsOpening, want)
		}
		for _, pause := range c.Think {
			if pause < time.Second || pause > 3*time.Second {
				t.Fatalf("a pause of %s", pause)
			}
		}
	}
	if len(turns) != 3 || turns[2] < 40 || turns[3] < 40 || turns[4] < 40 {
		t.Errorf("turns are not spread over 2 … 4: %v", turns)
	}
}

func TestTextsHaveTheWantedLength(t *testing.T) {
	const longestWord = 16
	for _, tokens := range []int{1, 5, 20, 40, 100, 1000, 4000} {
		c := newSource(t, Spec{TurnsMin: 2, PromptTokens: tokens, FollowupTokens: tokens, Starters: 1}).Next()
		want := int(float64(tokens) * trace.CharsPerToken)
		for what, text := range map[string]string{"opening": user(c), "follow-up": c.Followups[0]} {
			if got := len(text); got > want+longestWord || got < want-2*longestWord || got == 0 {
				t.Errorf("%s of %d tokens has %d characters, want about %d: %.60q", what, tokens, got, want, text)
			}
		}
	}
}

func TestStartersAreSharedAndDistinct(t *testing.T) {
	const starters = 10
	s := newSource(t, Spec{PromptTokens: 200, Starters: starters})
	count := map[string]int{}
	firstWords := map[string]bool{}
	for _, c := range plans(s, 500) {
		count[user(c)]++
		firstWords[strings.Fields(user(c))[0]] = true
	}
	if len(count) != starters || len(firstWords) != starters {
		t.Errorf("%d texts with %d first words, want %d of each", len(count), len(firstWords), starters)
	}
	for text, n := range count {
		if n < 20 {
			t.Errorf("%.20q opens %d of 500 conversations", text, n)
		}
	}
}

func TestTargetsShareTheTextsInMemory(t *testing.T) {
	spec := Spec{PromptTokens: 1000, Starters: 1}
	sources := []*Source{newSource(t, spec), newSource(t, spec, 1)}
	a, b := user(sources[0].Next()), user(sources[1].Next())
	if unsafe.StringData(a) != unsafe.StringData(b) {
		t.Error("two sources keep a text of their own each")
	}
	runtime.KeepAlive(sources)
}

func TestUniqueOpenings(t *testing.T) {
	seen := map[string]bool{}
	for _, salt := range []uint64{1, 2} {
		for _, c := range plans(newSource(t, Spec{PromptTokens: 200}, salt), 300) {
			// Prefix caches use blocks of at least 16 tokens.
			seen[user(c)[:60]] = true
		}
	}
	if len(seen) != 600 {
		t.Errorf("600 openings begin in %d ways", len(seen))
	}
}

func TestSaltMovesDrawsButNotSharedTexts(t *testing.T) {
	spec := Spec{PromptTokens: 100, Starters: 3}
	texts := func(salt uint64) (set map[string]bool, sequence []string) {
		set = map[string]bool{}
		for _, c := range plans(newSource(t, spec, salt), 60) {
			set[user(c)] = true
			sequence = append(sequence, user(c))
		}
		return set, sequence
	}
	setA, sequenceA := texts(1)
	setB, sequenceB := texts(2)
	if !reflect.DeepEqual(setA, setB) {
		t.Error("replicas do not share their starters")
	}
	if reflect.DeepEqual(sequenceA, sequenceB) {
		t.Error("replicas draw their starters in step")
	}
}

func TestFollowupScriptIsUsedInTurn(t *testing.T) {
	s := newSource(t, Spec{TurnsMin: 4, PromptTokens: 10, Content: Content{Followups: []string{"a", "b"}}})
	for range 2 {
		if got := s.Next().Followups; !reflect.DeepEqual(got, []string{"a", "b", "a"}) {
			t.Errorf("follow-ups %q", got)
		}
	}
}

// TestLearnReachesTheWantedTokens simulates tokenizers of different granularity and the
// overhead of a chat template.
func TestLearnReachesTheWantedTokens(t *testing.T) {
	for _, charsPerToken := range []float64{1, 2.5, 4, 5.8} {
		s := newSource(t, Spec{PromptTokens: 2000, Starters: 5})
		tokens := 0
		for range 40 {
			c := s.Next()
			tokens = int(float64(c.CharsOpening)/charsPerToken) + 12
			s.Learn(c.CharsOpening, tokens)
		}
		if off := math.Abs(float64(tokens)/2000 - 1); off > 0.05 {
			t.Errorf("%v characters per token: prompts of %d tokens, want 2000 ± 5 %%", charsPerToken, tokens)
		}
	}
}

func TestLearningKeepsThePrefix(t *testing.T) {
	s := newSource(t, Spec{PromptTokens: 1000, Starters: 1})
	long := user(s.Next())
	for range ratioSamples {
		s.Learn(3000, 1000)
	}
	short := user(s.Next())
	if len(short) >= len(long) || len(short) < 2900 {
		t.Fatalf("after learning 3 characters per token the text has %d characters, before %d", len(short), len(long))
	}
	end := strings.LastIndex(short, "\n\n")
	body := short[:end]
	if !strings.HasSuffix(long, short[end:]) || !strings.ContainsAny(short[end:], "?.") {
		t.Errorf("both should end in the same question, the shorter ends in %q", short[end:])
	}
	if !strings.HasPrefix(long, body) || len(body) < 2800 {
		t.Errorf("the texts share less than the shorter one's body of %d characters", len(body))
	}
}

func TestConcurrentUse(t *testing.T) {
	s := newSource(t, Spec{TurnsMax: 3, PromptTokens: 100, Starters: 3})
	var wg sync.WaitGroup
	var ids sync.Map
	for range 8 {
		wg.Go(func() {
			for range 50 {
				c := s.Next()
				if _, twice := ids.LoadOrStore(c.ID, true); twice {
					t.Errorf("ID %d was given twice", c.ID)
				}
				s.Learn(c.CharsOpening, c.CharsOpening/4)
				s.Estimate(c)
			}
		})
	}
	wg.Wait()
}

func TestEstimateCountsTheHistoryOfEachTurn(t *testing.T) {
	s := newSource(t, Spec{TurnsMin: 3, PromptTokens: 1000, FollowupTokens: 100, MaxOutputTokens: 200, Starters: 1})
	c := s.Next()
	// Prompts of 1000, 1300 and 1600 tokens, and three answers of 200.
	if got := s.Estimate(c); got < 4300 || got > 4500 {
		t.Errorf("estimate %d, want about 4500", got)
	}
	if got := s.EstimatePrompt(c, 2); got < 1260 || got > 1300 {
		t.Errorf("estimate of the second prompt %d, want about 1300", got)
	}
	c.Followups = nil // the configured length counts
	if got := s.EstimatePrompt(c, 3); got < 1580 || got > 1600 {
		t.Errorf("estimate of the third prompt %d, want about 1600", got)
	}
	unlimited := newSource(t, Spec{PromptTokens: 1000})
	if got := unlimited.Estimate(unlimited.Next()); got < 1480 || got > 1500 {
		t.Errorf("estimate without an output limit %d, want about 1500", got)
	}
}
