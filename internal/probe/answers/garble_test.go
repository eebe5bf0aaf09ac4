package answers

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a text of a file of testdata, which "=== name" begins.
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

// TestAnswersAreNoRubbish: no threshold was chosen on kept.txt.
func TestAnswersAreNoRubbish(t *testing.T) {
	for _, file := range []string{"chosen.txt", "kept.txt"} {
		for _, s := range samples(t, file) {
			if got := GarbleOf(s.text).Reason; got != "" {
				t.Errorf("%s: %s is %s", file, s.name, got)
			}
		}
	}
}

func TestRubbish(t *testing.T) {
	for _, s := range samples(t, "rubbish.txt") {
		want, _, _ := strings.Cut(s.name, " ")
		if got := GarbleOf(s.text).Reason; got != Reason(want) {
			t.Errorf("%s: it is %q", s.name, got)
		}
	}
}

// TestDocsAreNoRubbish cuts pages as a limit on tokens would: none was written
// for this test. Long rules of tables and diagrams are what it may stumble over.
func TestDocsAreNoRubbish(t *testing.T) {
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
				if l := GarbleOf(string(bytes.ToValidUTF8(data[:n], nil))); l.Reason != "" {
					bad++
					t.Logf("%s: %s: %.200q", file, l.Reason, data[:n])
				}
				pieces, data = pieces+1, data[n:]
			}
		}
	}
	if t.Logf("%d of %d pieces", bad, pieces); pieces < 2000 || bad*1000 > pieces {
		t.Errorf("%d of %d pieces are rubbish", bad, pieces)
	}
}

func TestUsualLengthAndLanguage(t *testing.T) {
	english, russian := GarbleOf(samples(t, "chosen.txt")[0].text), GarbleOf(samples(t, "chosen.txt")[2].text)
	var u Usual
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		if got := u.Judge(english, 60+draw.IntN(120)); got != "" {
			t.Fatalf("answer %d is %s", i, got)
		}
	}
	for _, test := range []struct {
		look   Look
		tokens int
		want   Reason
	}{
		{english, 2, Length},
		{english, 2000, Length},
		{english, 0, ""}, // unknown is not short
		{russian, 100, Language},
		{Look{}, 100, ""}, // too few letters to tell
		{Look{Reason: Repetition}, 100, Repetition},
	} {
		if got := u.Judge(test.look, test.tokens); got != test.want {
			t.Errorf("%v of %d tokens is %q, want %q", test.look, test.tokens, got, test.want)
		}
	}
}

func TestAnOddLengthBecomesTheUsual(t *testing.T) {
	var u Usual
	for range 100 {
		u.Judge(Look{}, 100)
	}
	for i := range accepted {
		if got := u.Judge(Look{}, 3); got != Length {
			t.Fatalf("after %d odd answers a short one is %q", i, got)
		}
	}
	if got := u.Judge(Look{}, 3); got != "" {
		t.Errorf("after %d odd answers a short one is %q still", accepted, got)
	}
}

func BenchmarkOf(b *testing.B) {
	for _, s := range append(samples(b, "chosen.txt")[:4], sample{"long", strings.Repeat(samples(b, "chosen.txt")[2].text, 20)}) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				GarbleOf(s.text)
			}
		})
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range samples(f, "rubbish.txt") {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if l := GarbleOf(text); l.Reason != "" && len(text) < leastText {
			t.Errorf("%q is %s, too short to tell", text, l.Reason)
		}
	})
}
