package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// TestFindReadsWhatModelsWrite: a code is found in each form that a model gives it.
func TestFindReadsWhatModelsWrite(t *testing.T) {
	rng := seeded(1)
	for range 200 {
		c := New(rng)
		g := strings.Split(string(c), "-")
		for name, text := range map[string]string{
			"alone":           string(c),
			"lower case":      strings.ToLower(string(c)),
			"no hyphens":      strings.Join(g, ""),
			"spaces":          strings.Join(g, " "),
			"other hyphens":   strings.Join(g, "\u2011"),
			"bold groups":     "**" + strings.Join(g, "**-**") + "**",
			"code":            "`" + string(c) + "`, as written.",
			"after a number":  "Reference 2: " + string(c) + ". The mill 7 stood.",
			"broken lines":    strings.Join(g, "-\n"),
			"twice":           string(c) + " " + string(c),
			"between letters": "see" + string(c) + "above",
		} {
			found := Find(text)
			if len(found) == 0 || slices.ContainsFunc(found, func(f Code) bool { return f != c }) {
				t.Errorf("%s: found %q in %q, want %s", name, found, text, c)
			}
		}
	}
}

// TestAlteredCodesAreInvalid changes, swaps, drops and adds single characters.
func TestAlteredCodesAreInvalid(t *testing.T) {
	rng := seeded(2)
	for range 300 {
		c := []byte(New(rng))
		i := rng.IntN(len(c))
		other := slices.Clone(c)
		other[i] = symbols[rng.IntN(len(symbols))]
		swapped := slices.Clone(c)
		if i > 0 {
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
		}
		for _, altered := range [][]byte{other, swapped, slices.Delete(slices.Clone(c), i, i+1), slices.Insert(slices.Clone(c), i, '7')} {
			whole := strings.Contains(strings.ReplaceAll(string(altered), "-", ""), strings.ReplaceAll(string(c), "-", ""))
			if found := Find(string(altered)); !whole && len(found) > 0 {
				t.Errorf("%s, altered from %s, has the codes %q", altered, c, found)
			}
		}
	}
}

// TestRandomCharactersAreNoCode: 3 million strings of the form of codes contain no code. Their
// probability of a valid code is 3.6e-12.
func TestRandomCharactersAreNoCode(t *testing.T) {
	if per := 1.0 / (1 << (7*5 + 3)); per > 1e-9 {
		t.Fatalf("random characters are a code with probability %g", per)
	}
	rng := seeded(3)
	n := 3_000_000
	if testing.Short() {
		n = 100_000
	}
	var c [length]byte
	for range n {
		for i := range c {
			c[i] = symbol(i, byte(rng.Uint32()))
		}
		if valid(&c) {
			t.Fatalf("%s is a valid code", format(&c))
		}
	}
}

// TestCheckCharactersVary: each check character takes all of its values about equally often, so that
// its bits count.
func TestCheckCharactersVary(t *testing.T) {
	rng := seeded(4)
	const n = 32_000
	var seen [length]map[byte]int
	for range n {
		for i, b := range []byte(strings.ReplaceAll(string(New(rng)), "-", "")) {
			if seen[i] == nil {
				seen[i] = map[byte]int{}
			}
			seen[i][b]++
		}
	}
	for i, counts := range seen {
		values := 32
		if i%group == 0 {
			values = 8
		}
		if len(counts) != values {
			t.Errorf("place %d has %d values, want %d", i, len(counts), values)
		}
		for b, times := range counts {
			if expected := n / values; times < expected*3/4 || times > expected*5/4 {
				t.Errorf("place %d is %c %d times, want about %d", i, b, times, expected)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	rng := seeded(5)
	first, second, foreign := New(rng), New(rng), New(rng)
	own := []Code{first, second}
	for name, tt := range map[string]struct {
		answer string
		asked  Code
		want   Result
	}{
		"right":                       {fmt.Sprintf("**%s** It rains.", first), first, Right},
		"missing":                     {"It rains.", first, Wrong},
		"altered":                     {strings.Replace(string(first), string(first[3]), "Q7", 1), first, Wrong},
		"another one of its own":      {string(second), first, Wrong},
		"both of its own":             {fmt.Sprintf("%s %s", second, first), first, Right},
		"foreign":                     {string(foreign), first, Foreign},
		"foreign beside the right":    {fmt.Sprintf("%s %s", first, foreign), first, Foreign},
		"not asked":                   {"It rains.", "", ""},
		"not asked, with its own":     {string(first), "", ""},
		"not asked, with another one": {"It rains: " + string(foreign), "", Foreign},
		"no answer":                   {"", first, Wrong},
	} {
		got, codes := Judge(tt.answer, own, tt.asked)
		if got != tt.want || slices.Contains(codes, foreign) != (got == Foreign) {
			t.Errorf("%s: %q is %q with the foreign codes %q, want %q", name, tt.answer, got, codes, tt.want)
		}
	}
}

// TestBothEndsAreSearched: codes are found in the first and in the last 16 kB of an answer.
func TestBothEndsAreSearched(t *testing.T) {
	rng := seeded(6)
	first, last, middle := New(rng), New(rng), New(rng)
	rain := strings.Repeat("It rains. ", 2000)
	_, codes := Judge(string(first)+rain+string(middle)+rain+string(last), nil, "")
	if !slices.Equal(codes, []Code{first, last}) {
		t.Errorf("found %q, want %q", codes, []Code{first, last})
	}
}

// TestSearchAllocatesOnce: looking for codes allocates the text without its separators, and nothing for each
// place in it, also if each place looks like a code.
func TestSearchAllocatesOnce(t *testing.T) {
	for _, text := range []string{strings.Repeat("2", 4000), strings.Repeat("7KQXD-2MDRV-4RTWP ", 200)} {
		if n := testing.AllocsPerRun(10, func() { Find(text) }); n > 1 {
			t.Errorf("%.0f allocations for %q…", n, text[:20])
		}
	}
}

func TestDepthClasses(t *testing.T) {
	for tokens, want := range map[int]string{0: "0-1k", 999: "0-1k", 1000: "1k-8k", 31_999: "8k-32k", 32_000: "32k-128k", 128_000: "128k+"} {
		if got := Depth(tokens); got != want || !slices.Contains(Depths(), got) {
			t.Errorf("%d tokens are %q, want %q", tokens, got, want)
		}
	}
}

// FuzzFind: every found code is valid and is found again in its own text; the code that is planted into
// any text is found.
func FuzzFind(f *testing.F) {
	f.Add("Reference 2: 7KQXD-2MDRV-4RTWP.", uint64(1))
	f.Add("2222222222222222222222222222222", uint64(2))
	f.Add("\xff\u2011\u200b`*_", uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		for _, c := range Find(text) {
			if again := Find(string(c)); len(again) != 1 || again[0] != c {
				t.Errorf("%q is found as %q", c, again)
			}
		}
		planted := New(seeded(seed))
		if !slices.Contains(Find(text+string(planted)+text), planted) {
			t.Errorf("%s is not found between %q", planted, text)
		}
	})
}
