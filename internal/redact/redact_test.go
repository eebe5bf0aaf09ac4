package redact

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"synthetic/tools/testkit/echo"
)

func keySet(keys ...string) *set {
	s := newSet(maxBytes, 2)
	for _, k := range keys {
		s.add(k, shortestKey, true)
	}
	return s
}

// TestAllFormsAreRemoved checks that no part of a key is left, also if a text is cut off in it.
func TestAllFormsAreRemoved(t *testing.T) {
	for _, key := range echo.Keys() {
		s, left := keySet(key), echo.NewSearcher(key)
		for _, f := range echo.Forms() {
			spelled := f.Spell(key)
			for _, text := range []string{spelled, "you sent " + spelled + " to me", "a" + spelled + "z", strings.Repeat(spelled, 30)} {
				got := s.text(text)
				if form, run := left.Find(got); form != "" {
					t.Errorf("%s of %d bytes: %q (%s) is left in %q", f.Name, len(key), run, form, got)
				}
				if !strings.Contains(got, Mark) && got != Withheld {
					t.Errorf("%s of %d bytes: %q was not changed", f.Name, len(key), got)
				}
			}
			if f.Name == "start" || f.Name == "end" {
				continue
			}
			for _, part := range []string{key[:14], key[:len(key)-1], key[1:], key[len(key)-14:]} {
				if text := "<" + f.Spell(part) + ">"; s.text(text) != Withheld {
					t.Errorf("%s: %q of a key is shown", f.Name, text)
				}
			}
		}
	}
}

// TestKeysOfWords has keys without a digit or a capital letter inside a word.
func TestKeysOfWords(t *testing.T) {
	s := keySet("correct-horse-battery-staple", "kzqwhvbdnmxpalskdjfhgturieow", "MXPALSKDJFHGTURIEOWKZ1")
	for _, text := range []string{
		"CORRECT HORSE BATTERY STAPLE", "correct-horse-battery-st", "horse-battery-staple", "a kzqwhvbdnmxpalsk...", "...pals.kdjfhgturieow", "MXPALSKDJFHGTURIE",
	} {
		if got := s.text(text); got != Withheld {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"the correct horse", "a battery staple"} {
		if got := s.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestOtherTextStays checks texts that resemble keys, and words that keys begin or end with.
func TestOtherTextStays(t *testing.T) {
	s := keySet("sk-proj-Abcdefgh0123456789", "none", "hunter2", "Tr0ub4dor&3xyz", "synthetic probes pages", "production-8f3ac91d77-observability")
	s.add("team-production-eu", shortestValue, false)
	for _, text := range []string{
		"max_tokens is 100 % too large", "R&D said: it's < 5 &c", `the path C:\users\x`, "none was asked", "a cut escape %4",
		"your key starts with sk-proj-Abc", "target=production-eu", "Hunter 2 and HUNTER2", "\xff\xfe%", "&", "the model of Production is missing", "Observability 1", "the Synthetic probes",
		"=", `\`, "&#;", "%zz=zz", "",
	} {
		if got := s.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"u:hunter2":              "u:" + Mark,
		"dTpodW50ZXIy":           "dTp" + Mark,
		"u:Tr0ub4dor&amp;3xyz":   "u:" + Mark,
		"for team-production-eu": "for " + Mark,
	} {
		if got := s.text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestManySecretsAreForgotten checks that old secrets are forgotten, and secrets in use are not.
func TestManySecretsAreForgotten(t *testing.T) {
	text := func(i int) string { // of 1,000 bytes
		var b strings.Builder
		for n := range 20 {
			fmt.Fprintf(&b, "%x", sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(n)}))
		}
		return b.String()[:1000]
	}
	s, used := newSet(20_000, 2), "used-"+strings.Repeat("u1x9", 30)
	for i := range 60 {
		s.add(text(i), shortestKey, true)
		s.add(used, shortestKey, true)
	}
	if got := s.text(used); got != Mark {
		t.Errorf("a secret in use is left: %q", got)
	}
	size := 0
	for _, g := range s.generations {
		size += g.size
	}
	if old := text(1); s.text(old) != old || size > 40_000 {
		t.Errorf("%q is left, and %d bytes are kept", s.text(old), size)
	}
}

func TestErrorAndWriter(t *testing.T) {
	key := "package-redact-0123456789abcdef"
	Key(key)
	cause := errors.New("the server said " + strings.ToUpper(key))
	if err := Error(cause); !errors.Is(err, cause) || err.Error() != Withheld || Error(nil) != nil {
		t.Errorf("the error is %v", err)
	}
	var out bytes.Buffer
	if n, err := fmt.Fprintf(Writer(&out), "msg=%q\n", key); err != nil || n != len(key)+len("msg=\"\"\n") || out.String() != "msg=\""+Mark+"\"\n" {
		t.Errorf("%d bytes, error %v: %q", n, err, out.String())
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"", "%", "&#x", `\u00`, "%2", "%25252", "&amp;amp;#x73;", `\\\\u0073`, "<redacted>", `\u{`} {
		f.Add(text, text)
	}
	key := echo.Keys()[0]
	s := keySet(key)
	forms := echo.Forms()
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, form := range forms[:3] {
			if got := s.text(before + form.Spell(key) + after); strings.Contains(strings.ToLower(got), strings.ToLower(key)) {
				t.Errorf("%s: %q came through", form.Name, got)
			}
		}
	})
}
