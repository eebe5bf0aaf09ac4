package probe

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// spellings returns functions that write one character of a key in different ways.
func spellings() []func(c byte) string {
	escape := func(format string) func(byte) string { return func(c byte) string { return fmt.Sprintf(format, c) } }
	return []func(byte) string{
		func(c byte) string { return string(c) },
		escape("%%%02x"), escape("%%%02X"), escape("&#x%x;"), escape("&#X%04X;"), escape("&#%d;"), escape("&#%03d;"), escape(`\u%04x`), escape(`\u%04X`), escape(`\x%02x`),
		func(c byte) string { return html.EscapeString(string(c)) },
		func(c byte) string { return url.QueryEscape(string(c)) },
		func(c byte) string { return strings.ReplaceAll(string(c), "/", `\/`) },
	}
}

// randomKey returns a key with the characters that keys contain.
func randomKey(rng *rand.Rand) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~+/=:"
	key := make([]byte, 12+rng.IntN(60))
	for i := range key {
		key[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(key)
}

// quoted encodes a text for a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b[1 : len(b)-1])
}

// respell writes each character of a key in a random spelling, and escapes the result up to twice.
func respell(rng *rand.Rand, key string) string {
	all, wholes := spellings(), []func(string) string{url.QueryEscape, html.EscapeString, quoted}
	var b strings.Builder
	for i := range len(key) {
		b.WriteString(all[rng.IntN(len(all))](key[i]))
	}
	text := b.String()
	for range rng.IntN(3) {
		text = wholes[rng.IntN(len(wholes))](text)
	}
	return text
}

// plainly decodes all escapes, as a reader might.
func plainly(text string) string { return unescape(unescape(text)) }

// TestAnySpellingOfTheKeyIsHidden mixes the spellings of random keys.
func TestAnySpellingOfTheKeyIsHidden(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		key := randomKey(rng)
		s := newScrubber(http.Header{"Authorization": {"Bearer " + key}})
		spelled := respell(rng, key)
		for _, got := range []string{s.clean("you sent " + spelled + " to me"), s.hide(spelled)} {
			if strings.Contains(plainly(got), key) || !strings.Contains(got, redacted) {
				t.Fatalf("the key %q, spelled %q, gave %q", key, spelled, got)
			}
		}
		cut := s.clean("you sent " + spelled[:len(spelled)-1-rng.IntN(len(spelled)/3)])
		if plain := plainly(cut); strings.Contains(plain, key[:6]) {
			t.Fatalf("the key %q, spelled %q and cut, gave %q", key, spelled, cut)
		}
	}
}

// TestBase64OfTheKeyIsHidden encodes texts that contain the key at different positions.
func TestBase64OfTheKeyIsHidden(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		key := randomKey(rng)
		s := newScrubber(http.Header{"Authorization": {"Bearer " + key}})
		before, after := strings.Repeat("x", rng.IntN(7)), strings.Repeat("y", rng.IntN(7))
		for _, text := range []string{key, "Bearer " + key, before + key + after} {
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				spelled := url.QueryEscape(e.EncodeToString([]byte(text)))
				got := s.clean("you sent " + spelled)
				for at := range 4 { // whatever position the rest starts at
					rest := strings.Map(alphabetOf64, strings.TrimPrefix(got, "you sent "))
					if plain, err := base64.RawStdEncoding.DecodeString(rest[min(at, len(rest)):]); err == nil && strings.Contains(string(plain), key[2:8]) {
						t.Fatalf("the key %q in %q gave %q", key, spelled, got)
					}
				}
				if !strings.Contains(got, redacted) {
					t.Fatalf("the key %q in %q gave %q", key, spelled, got)
				}
			}
		}
	}
}

// alphabetOf64 maps both base64 alphabets to the standard one.
func alphabetOf64(r rune) rune {
	switch r {
	case '-':
		return '+'
	case '_':
		return '/'
	case '=':
		return -1
	}
	return r
}

// TestOtherTextStaysReadable checks that texts without secrets stay readable.
func TestOtherTextStaysReadable(t *testing.T) {
	s := newScrubber(http.Header{"Authorization": {"Bearer sk-very-secret-0123456789"}, "X-Tenant": {"tenant-a-b-c"}, "User-Agent": {"synthetic"}})
	for text, want := range map[string]string{
		"max_tokens is 100 % too large":   "max_tokens is 100 % too large",
		"R&D said: it's < 5 &c":           "R&D said: it's < 5 &c",
		`the path C:\users\x`:             `the path C:\users\x`,
		"no model &quot;x&quot; here":     `no model "x" here`,
		"a cut escape %4":                 "a cut escape %4",
		"the user agent synthetic":        "the user agent synthetic",
		"\x1b[2Jhi\x00":                   "[2Jhi",
		"&#x1b;[2J and \\u0007 and %1b":   "[2J and and %1b",
		"your tenant is tenant%2Da-b-c":   "your tenant is <redacted>",
		"&#xffffffff; &#0; %zz \\uD83D x": html.UnescapeString("&#xffffffff; &#0;") + " %zz \uFFFD x",
	} {
		if got := s.clean(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzScrub searches for texts around a key that make it visible.
func FuzzScrub(f *testing.F) {
	for _, text := range []string{"", "%", "&#x", `\u00`, "%2", "%25252", "&amp;amp;#x73;", `\\\\u0073`, "<redacted>"} {
		f.Add(text, text)
	}
	const key = "sk-very/secret+0123456789=="
	s := newScrubber(http.Header{"Authorization": {"Bearer " + key}})
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, spelled := range []string{key, url.QueryEscape(key), html.EscapeString(key), quoted(key)} {
			if got := s.clean(before + spelled + after); strings.Contains(got, key) {
				t.Errorf("%q came through as %q", before+spelled+after, got)
			}
		}
		if got := s.clean(before); len(got) > maxErr+len("…") {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// BenchmarkClean cleans the longest possible texts of escapes. The time per byte must not grow with
// the length.
func BenchmarkClean(b *testing.B) {
	s := newScrubber(http.Header{"Authorization": {"Bearer " + strings.Repeat("abc", 400)}})
	for _, n := range []int{4 << 10, maxErrorBody} {
		for name, unit := range map[string]string{"percent": "%2525", "entities": "&amp;", "backslashes": `\\`, "key": strings.Repeat("abc", 399)} {
			text := strings.Repeat(unit, n/len(unit))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.clean(text)
				}
			})
		}
	}
}
