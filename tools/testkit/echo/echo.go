// Package echo spells a key in the ways in which a hostile server may repeat it, and searches texts
// for what is left of it.
package echo

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"mime/quotedprintable"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Form is one way to spell a key.
type Form struct {
	Name  string
	Spell func(key string) string
}

// Forms returns all ways.
func Forms() []Form {
	return append(append(plain(), separated()...), append(escaped(), encoded()...)...)
}

func plain() []Form {
	return []Form{
		{"as it is", func(k string) string { return k }},
		{"lower case", strings.ToLower},
		{"upper case", strings.ToUpper},
		{"other case", func(k string) string {
			out := []byte(strings.ToLower(k))
			for i := 0; i < len(out); i += 2 {
				out[i] = strings.ToUpper(string(out[i]))[0]
			}
			return string(out)
		}},
		{"start", func(k string) string { return k[:max(12, len(k)*2/3)] }},
		{"end", func(k string) string { return k[min(len(k)-12, len(k)/3):] }},
		{"quoted", strconv.Quote},
	}
}

// separated writes something between the characters.
func separated() []Form {
	between := func(s string, every int) func(string) string {
		return func(k string) string {
			var b strings.Builder
			for i, c := range k {
				if i > 0 && i%every == 0 {
					b.WriteString(s)
				}
				b.WriteRune(c)
			}
			return b.String()
		}
	}
	return []Form{
		{"spaces", between(" ", 1)},
		{"new lines", between("\n", 7)},
		{"tabs", between("\t", 5)},
		{"dashes", between("-", 1)},
		{"underscores", between("_", 4)},
		{"dots", between(".", 3)},
		{"colons", between(":", 2)},
		{"concatenated", between(`" + "`, 6)},
		{"zero-width spaces", between("\u200b", 1)},
		{"zero-width joiners", between("\u200d", 3)},
		{"soft hyphens", between("\u00ad", 2)},
		{"byte order marks", between("\ufeff", 5)},
		{"direction marks", between("\u202e", 4)},
		{"NUL bytes", between("\x00", 1)},
	}
}

// escaped writes each character as an escape.
func escaped() []Form {
	each := func(format string) func(string) string {
		return func(k string) string {
			var b strings.Builder
			for i := range len(k) {
				fmt.Fprintf(&b, format, k[i])
			}
			return b.String()
		}
	}
	return []Form{
		{"percent", each("%%%02X")},
		{"percent in lower case", each("%%%02x")},
		{"query", url.QueryEscape},
		{"JSON", each(`\u%04x`)},
		{"JSON in JSON", func(k string) string {
			out, _ := json.Marshal(each(`\u%04X`)(k))
			return string(out)
		}},
		{"new lines in JSON", func(k string) string { return strings.ReplaceAll(k[:12]+"\n"+k[12:], "\n", `\n`) }},
		{"Go", each(`\x%02x`)},
		{"HTML", html.EscapeString},
		{"HTML in hex", each("&#x%X;")},
		{"quoted-printable", func(k string) string {
			var b strings.Builder
			w := quotedprintable.NewWriter(&b)
			_, _ = w.Write([]byte(strings.Repeat("é", 20) + k))
			_ = w.Close()
			return b.String()
		}},
		{"quoted-printable of all", each("=%02X")},
	}
}

func encoded() []Form {
	behind := func(before string, encode func([]byte) string) func(string) string {
		return func(k string) string { return encode([]byte(before + k)) }
	}
	std, raw := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	return []Form{
		{"base64", behind("", std)},
		{"base64 for URLs", behind("", raw)},
		{"base64 behind a byte", behind("u", raw)},
		{"base64 behind two bytes", behind("u:", std)},
		{"base64 in lines", func(k string) string { return wrapped(std([]byte("Bearer " + k))) }},
		{"base64 as percent", func(k string) string { return url.QueryEscape(std([]byte(k))) }},
		{"base64 in lower case", func(k string) string { return strings.ToLower(raw([]byte(k))) }},
		{"hex", behind("", hex.EncodeToString)},
		{"hex in upper case", func(k string) string { return fmt.Sprintf("%X", k) }},
		{"hex with spaces", func(k string) string { return fmt.Sprintf("% x", k) }},
		{"hex with colons", func(k string) string { return strings.ReplaceAll(fmt.Sprintf("% x", k), " ", ":") }},
		{"hex with prefixes", func(k string) string { return fmt.Sprintf("%#v", []byte(k)) }},
	}
}

func wrapped(text string) string {
	var lines []string
	for line := range slices.Chunk([]byte(text), 20) {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\r\n")
}

// Keys returns keys of 20, 60 and 164 bytes.
func Keys() []string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rng := rand.New(rand.NewPCG(1, 2))
	var keys []string
	for _, n := range []int{20, 60, 164} {
		key := []byte("sk-")
		for len(key) < n {
			key = append(key, alphabet[rng.IntN(len(alphabet))])
		}
		keys = append(keys, string(key))
	}
	return keys
}

// run is the number of bytes of a key that must not be in a text.
const run = 12

// Searcher finds the runs of a key in texts.
type Searcher struct {
	// patterns has the spellings of each run by their first start bytes.
	patterns map[string][]pattern
}

type pattern struct{ text, form string }

const start = 8

// NewSearcher returns a Searcher for a key.
func NewSearcher(key string) Searcher {
	s := Searcher{map[string][]pattern{}}
	for i := 0; i+run <= len(key); i++ {
		part := key[i : i+run]
		for _, f := range Forms() {
			if !strings.HasPrefix(f.Name, "base") && f.Name != "quoted-printable" { // their text depends on its place
				s.add(f.Spell(part), f.Name)
			}
		}
		s.addBase64(part)
	}
	return s
}

func (s Searcher) add(text, form string) {
	s.patterns[text[:start]] = append(s.patterns[text[:start]], pattern{text, form})
}

// addBase64 adds the part of the base64 of a run that does not depend on the text around it.
func (s Searcher) addBase64(part string) {
	for shift := range 3 {
		text := append(make([]byte, shift), part...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			t := e.EncodeToString(text)[(8*shift+5)/6 : 8*len(text)/6]
			s.add(t, "base64")
			s.add(strings.ToLower(t), "base64 in lower case")
		}
	}
}

// Find returns the form in which a text contains a run of the key, and the run; "" for none.
func (s Searcher) Find(text string) (form, run string) {
	for i := range max(0, len(text)-start+1) {
		for _, p := range s.patterns[text[i:i+start]] {
			if strings.HasPrefix(text[i:], p.text) {
				return p.form, p.text
			}
		}
	}
	return "", ""
}
