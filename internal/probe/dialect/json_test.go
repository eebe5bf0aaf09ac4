package dialect

import (
	"encoding/json"
	"testing"
)

// FuzzJSON checks that encoding/json accepts the same texts and decodes strings alike.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\u00e9\ud83d\ude00"}],"c":-1.5e3}`, `"\n"`, `[01]`, `{"a":1,}`, `null `, `"\x"`, `{} {}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner(text)
		s.skip()
		if got, want := s.valid(), json.Valid(text); got != want {
			t.Fatalf("%q: valid is %v, want %v", text, got, want)
		}
		var want string
		if json.Unmarshal(text, &want) != nil || string(text) == "null" || want != string([]rune(want)) {
			return
		}
		s = newScanner(text)
		if got := string(s.text().clone().decode()); string([]rune(got)) != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}
