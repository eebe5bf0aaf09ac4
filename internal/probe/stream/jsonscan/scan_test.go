package jsonscan

import (
	"encoding/json"
	"testing"
)

// FuzzScan checks that encoding/json accepts the same texts and decodes strings alike.
func FuzzScan(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\u00e9\ud83d\ude00"}],"c":-1.5e3}`, `"\n"`, `[01]`, `{"a":1,}`, `null `, `"\x"`, `{} {}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := New(text)
		s.Skip()
		if got, want := s.Valid(), json.Valid(text); got != want {
			t.Fatalf("%q: valid is %v, want %v", text, got, want)
		}
		var want string
		if json.Unmarshal(text, &want) != nil || string(text) == "null" || want != string([]rune(want)) {
			return
		}
		s = New(text)
		if got := string(s.Text().Clone().Decode()); string([]rune(got)) != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}
