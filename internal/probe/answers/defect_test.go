package answers

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a text in a file of testdata. A line "=== name" begins it.
type sample struct{ name, text string }

func samples(t testing.TB, file string) []sample {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for part := range strings.SplitSeq(strings.TrimPrefix(string(data), "=== "), "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		out = append(out, sample{strings.TrimSpace(name), strings.TrimSuffix(text, "\n")})
	}
	return out
}

// TestNormalAnswersHaveNoDefect uses the texts with which the thresholds were chosen, and others in
// kept.txt that were not used for that.
func TestNormalAnswersHaveNoDefect(t *testing.T) {
	for _, file := range []string{"chosen.txt", "kept.txt"} {
		for _, s := range samples(t, file) {
			if got := inspect(s.text).defect; got != "" {
				t.Errorf("%s: %s has the defect %s", file, s.name, got)
			}
		}
	}
}

func TestDefects(t *testing.T) {
	for _, s := range samples(t, "rubbish.txt") {
		want, _, _ := strings.Cut(s.name, " ")
		if got := inspect(s.text).defect; got != Defect(want) {
			t.Errorf("%s: the defect is %q", s.name, got)
		}
	}
}

// TestPagesHaveNoDefect cuts pages into pieces, as a token limit would. No page was written for this
// test. A few pieces consist of table rules and diagrams.
func TestPagesHaveNoDefect(t *testing.T) {
	pieces, bad := 0, 0
	for _, pattern := range []string{"../../../docs/*/*.md", "../../../*.md", "../../*/*.go", "../../*/*/*.go", "../../../alerts/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for len(data) > 0 {
				n := min(600, len(data))
				if l := inspect(string(bytes.ToValidUTF8(data[:n], nil))); l.defect != "" {
					bad++
					t.Logf("%s: %s: %.200q", file, l.defect, data[:n])
				}
				pieces, data = pieces+1, data[n:]
			}
		}
	}
	if t.Logf("%d of %d pieces", bad, pieces); pieces < 2000 || bad*1000 > pieces {
		t.Errorf("%d of %d pieces have a defect", bad, pieces)
	}
}

func TestUnusualLengthAndLanguage(t *testing.T) {
	english, russian := inspect(samples(t, "chosen.txt")[0].text), inspect(samples(t, "chosen.txt")[2].text)
	var b Baseline
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		if got := b.judge(english, 60+draw.IntN(120)); got != "" {
			t.Fatalf("answer %d has the defect %s", i, got)
		}
	}
	for _, test := range []struct {
		text   features
		tokens int
		want   Defect
	}{
		{english, 2, Length},
		{english, 2000, Length},
		{english, 0, ""}, // unknown
		{russian, 100, language},
		{features{}, 100, ""}, // too few letters
		{features{defect: Repetition}, 100, Repetition},
	} {
		if got := b.judge(test.text, test.tokens); got != test.want {
			t.Errorf("%v with %d tokens has the defect %q, want %q", test.text, test.tokens, got, test.want)
		}
	}
}

func TestAnUnusualLengthIsAccepted(t *testing.T) {
	var b Baseline
	for range 100 {
		b.judge(features{}, 100)
	}
	for i := range acceptAfter {
		if got := b.judge(features{}, 3); got != Length {
			t.Fatalf("after %d unusual answers a short one has the defect %q", i, got)
		}
	}
	if got := b.judge(features{}, 3); got != "" {
		t.Errorf("after %d unusual answers a short one still has the defect %q", acceptAfter, got)
	}
}

// TestDistinctPieces compares the count with that of a map.
func TestDistinctPieces(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for letters := range 6 {
		for range 50 {
			text := make([]byte, draw.IntN(tailBytes+1))
			for i := range text {
				text[i] = byte('a' + draw.IntN(letters+1))
			}
			want := map[string]bool{}
			for i := 0; i+pieceBytes <= len(text); i++ {
				want[string(text[i:i+pieceBytes])] = true
			}
			if got := distinctPieces(string(text)); got != len(want) {
				t.Fatalf("%d distinct pieces of %q, want %d", got, text, len(want))
			}
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	for _, s := range append(samples(b, "chosen.txt")[:4], sample{"long", strings.Repeat(samples(b, "chosen.txt")[2].text, 20)}) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				inspect(s.text)
			}
		})
	}
}

func FuzzInspect(f *testing.F) {
	for _, s := range samples(f, "rubbish.txt") {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if l := inspect(text); l.defect != "" && len(text) < minText {
			t.Errorf("%q has the defect %s, but is too short to inspect", text, l.defect)
		}
	})
}
