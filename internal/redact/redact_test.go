package redact

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"synthetic/tools/testkit/echo"
)

func keySet(keys ...string) *set {
	s := &set{}
	for _, k := range keys {
		s.add(k, keyRun, shortestKey)
	}
	return s
}

// passwords are keys with much punctuation.
func passwords() []string {
	rng := rand.New(rand.NewPCG(3, 4))
	var out []string
	for range 40 {
		key := make([]byte, 12+rng.IntN(60))
		for i := range key {
			key[i] = byte('!' + rng.IntN('~'-'!'+1))
		}
		out = append(out, string(key))
	}
	return out
}

// TestAllFormsAreRemoved checks that no run of a key is left, and that the text around it is.
func TestAllFormsAreRemoved(t *testing.T) {
	for _, key := range echo.Keys() {
		s, left := keySet(key), echo.NewSearcher(key)
		for _, f := range echo.Forms() {
			spelled := f.Spell(key)
			for _, text := range []string{spelled, "you sent " + spelled + " to me", "a" + spelled + "z", strings.Repeat(spelled, 30), spelled[:len(spelled)-1]} {
				got := s.text(text)
				if form, run := left.Find(got); form != "" {
					t.Errorf("%s of %d bytes: %q (%s) is left in %q", f.Name, len(key), run, form, got)
				}
				if !strings.Contains(got, Mark) {
					t.Errorf("%s of %d bytes: %q was not changed", f.Name, len(key), got)
				}
			}
			if got := s.text("you sent (" + spelled + ") to me"); !strings.HasPrefix(got, "you sent (") || !strings.HasSuffix(got, ") to me") {
				t.Errorf("%s: the text around the key is gone: %q", f.Name, got)
			}
		}
	}
}

// TestRunsOfAnyKeyAreRemoved repeats each run of keys with any visible characters.
func TestRunsOfAnyKeyAreRemoved(t *testing.T) {
	for _, key := range append(passwords(), echo.Keys()...) {
		s := keySet(key)
		for i := 0; i+keyRun <= len(key); i++ {
			run := key[i : i+keyRun]
			for _, spelled := range []string{run, strings.ToUpper(run), fmt.Sprintf("%x", run), run[:5] + "\u200b" + run[5:], fmt.Sprint([]byte(run))} {
				if got := s.text("<" + spelled + ">"); strings.Contains(got, spelled) {
					t.Errorf("%q of the key %q was not removed", spelled, key)
				}
			}
		}
	}
}

// TestOtherTextStays checks texts that resemble keys.
func TestOtherTextStays(t *testing.T) {
	s := keySet("sk-proj-Abcdefgh0123456789", "none", "hunter2", "synthetic probes pages")
	s.add("team-production-eu", len("team-production-eu"), shortestValue)
	for _, text := range []string{
		"max_tokens is 100 % too large", "R&D said: it's < 5 &c", `the path C:\users\x`, "none was asked", "a cut escape %4",
		"your key starts with sk-proj-Abc", "target=production-eu", "Hunter 2 and HUNTER2", "\xff\xfe%", "&", "=", `\`, "&#;", "%zz=zz", "",
	} {
		if got := s.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"u:hunter2":                "u:" + Mark,
		"dTpodW50ZXIy":             "dTp" + Mark,
		"for Team_Production%2deu": "for " + Mark,
	} {
		if got := s.text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestManyShortSecrets checks that many short secrets are found, also where they overlap, and that they
// hardly slow down the search: each has nine spellings.
func TestManyShortSecrets(t *testing.T) {
	one, many := keySet("hunter2"), keySet("hunter2", "ter2222", "ter2222long")
	for i := range 5000 {
		many.add(fmt.Sprintf("tenant-%04d", i), keyRun, shortestKey)
	}
	if got := many.text("hunter2222long, tenant-4999 and tenant-499"); got != Mark+", "+Mark+" and tenant-499" {
		t.Errorf("got %q", got)
	}
	text := strings.Repeat("HTTP 400: the model has a context of 8192 tokens ", 20)
	fastest := func(s *set) (best time.Duration) {
		for range 20 {
			begin := time.Now()
			s.text(text)
			if took := time.Since(begin); best == 0 || took < best {
				best = took
			}
		}
		return best
	}
	if a, b := fastest(one), fastest(many); b > 100*a {
		t.Errorf("a search takes %v with one secret, and %v with 5,003", a, b)
	}
}

// TestManySecretsAreForgotten checks that old secrets are forgotten, and secrets in use are not.
func TestManySecretsAreForgotten(t *testing.T) {
	s, used := &set{}, "used-"+strings.Repeat("u1x9", 30)
	for i := range 3 * maxBytes / 1000 {
		s.add(strings.Repeat(fmt.Sprintf("%08d", i), 125), keyRun, shortestKey)
		s.add(used, keyRun, shortestKey)
	}
	if got := s.text(used); got != Mark {
		t.Errorf("a secret in use is left: %q", got)
	}
	if old := strings.Repeat("00000001", 3); s.text(old) != old || s.recent.size > maxBytes || s.older.size > maxBytes {
		t.Errorf("%d and %d bytes are kept", s.recent.size, s.older.size)
	}
}

func TestErrorAndWriter(t *testing.T) {
	key := "package-redact-0123456789abcdef"
	Key(key)
	cause := errors.New("the server said " + strings.ToUpper(key))
	if err := Error(cause); !errors.Is(err, cause) || err.Error() != "the server said "+Mark || Error(nil) != nil {
		t.Errorf("the error is %v", err)
	}
	var out bytes.Buffer
	if n, err := fmt.Fprintf(Writer(&out), "msg=%q\n", key); err != nil || n != len(key)+len("msg=\"\"\n") || out.String() != "msg=\""+Mark+"\"\n" {
		t.Errorf("%d bytes, error %v: %q", n, err, out.String())
	}
}

// hostile returns texts that are expensive to search.
func hostile(n int, key string) map[string]string {
	out := map[string]string{}
	for name, unit := range map[string]string{
		"percent": "%2525", "entities": "&amp;", "entity without end": "&a", "backslashes": `\\`, "key": key,
		"start of the key": key[:11] + "!", "periodic": strings.Repeat("abc", 399),
	} {
		out[name] = strings.Repeat(unit, n/len(unit)+1)[:n]
	}
	return out
}

// TestWorkIsLinear counts the comparisons of hostile texts.
func TestWorkIsLinear(t *testing.T) {
	key := echo.Keys()[2]
	s := keySet(key, strings.Repeat("abc", 400), strings.Repeat("ab", 500)+"c")
	s.add(strings.Repeat("abcd", 400), 1600, shortestValue)
	for name, text := range hostile(64<<10, key) {
		f := finder{set: s, budget: 1 << 40}
		f.search(&layer{text: text})
		if spent := 1<<40 - f.budget; spent > 64*len(text) {
			t.Errorf("%s: %d comparisons of %d bytes", name, spent, len(text))
		}
	}
}

// TestBudget checks that a text that takes too long is removed as a whole.
func TestBudget(t *testing.T) {
	s := &set{}
	for i := range 2000 { // with the same seed
		s.add(fmt.Sprintf("%06dthe-same-end", i), 18, shortestValue)
	}
	if short := strings.Repeat("x-the-same-end ", 3); s.text(short) != short {
		t.Errorf("a short text became %q", s.text(short))
	}
	if got := s.text(strings.Repeat("x-the-same-end ", 3000)); got != Mark {
		t.Errorf("an expensive text became %.100q", got)
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

func BenchmarkText(b *testing.B) {
	keys := echo.Keys()
	s := keySet(keys...)
	usual := strings.Repeat(`HTTP 400: {"error": "the model 'llama' has a context of 8192 tokens"} `, 3)[:200]
	texts := hostile(64<<10, keys[2])
	texts["usual"], texts["finish reason"] = usual, "stop"
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.text(text)
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	key := echo.Keys()[2]
	for b.Loop() {
		keySet(key)
	}
}
