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
	s := &set{capacity: 512 << 10}
	for _, k := range keys {
		s.add(k, shortestKey)
	}
	return s
}

// TestAllFormsAreRemoved checks that no form of a key is left.
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
				if !strings.Contains(got, Mark) {
					t.Errorf("%s of %d bytes: %q was not changed", f.Name, len(key), got)
				}
			}
		}
	}
}

// TestOtherTextStays checks texts that resemble keys.
func TestOtherTextStays(t *testing.T) {
	s := keySet("sk-proj-Abcdefgh0123456789", "none", "hunter2", "synthetic probes pages")
	s.add("team-production-eu", shortestValue)
	for _, text := range []string{
		"max_tokens is 100 % too large", "R&D said: it's < 5 &c", `the path C:\users\x`, "none was asked", "a cut escape %4",
		"your key starts with sk-proj-Abc", "target=production-eu", "Hunter 2 and HUNTER2", "\xff\xfe%", "&", "=", `\`, "&#;", "%zz=zz", "",
	} {
		if got := s.text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"u:hunter2":              "u:" + Mark,
		"dTpodW50ZXIy":           "dTp" + Mark,
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
	s, used := &set{capacity: 20_000}, "used-"+strings.Repeat("u1x9", 30)
	for i := range 60 {
		s.add(text(i), shortestKey)
		s.add(used, shortestKey)
	}
	if got := s.text(used); got != Mark {
		t.Errorf("a secret in use is left: %q", got)
	}
	if old := text(1); s.text(old) != old || s.size > 20_000 {
		t.Errorf("%d bytes are kept", s.size)
	}
}

func TestErrorAndWriter(t *testing.T) {
	key := "package-redact-0123456789abcdef"
	Key(key)
	cause := errors.New("the server said " + key)
	if err := Error(cause); !errors.Is(err, cause) || err.Error() != "the server said "+Mark || Error(nil) != nil {
		t.Errorf("the error is %v", err)
	}
	var out bytes.Buffer
	if n, err := fmt.Fprintf(Writer(&out), "msg=%q\n", key); err != nil || n != len(key)+len("msg=\"\"\n") || out.String() != "msg=\""+Mark+"\"\n" {
		t.Errorf("%d bytes, error %v: %q", n, err, out.String())
	}
}
