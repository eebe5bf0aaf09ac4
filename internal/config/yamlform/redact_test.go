package yamlform

import (
	"strings"
	"testing"
)

// TestRedactLines: what a value is written as decides where it ends; of one that
// goes on in further lines nothing is left over.
func TestRedactLines(t *testing.T) {
	for name, tt := range map[string]struct{ notes, want string }{
		"quoted":              {`{a: 'it''s', b: "a \" b", c: d}`, "{a: -"},
		"single":              {"{a: 'it''s hunter'}", "{a: -"},
		"double":              {`{a: "a \" hunter \\"}`, "{a: -"},
		"behind a wide rune":  {"{ü: hunter}", "{ü: -"},
		"a block":             {"\n  a: |\n    hunter\n    hunter", ""},
		"folded block":        {"\n  a: >-\n    hunter\n    hunter", ""},
		"plain in two lines":  {"\n  a: hunter\n    hunter", ""},
		"double in two lines": {"\n  a: \"hunter\n    hunter\"", ""},
		"an escaped line end": {"\n  a: \"hunter\\\n    hunter\"", ""},
		"single in two lines": {"\n  a: 'hunter\n    hunter'", ""},
		"a second in two":     {"{a: hunter, b: hunter\n    hunter}", ""},
		"behind an anchor":    {"{a: &x hunter}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := "name: x\nnotes: " + tt.notes + "\n"
			_, f := decode(t, text)
			got, ok := f.Redact([]byte(text), "-", "notes")
			if want := "name: x\nnotes: " + tt.want + "\n"; ok != (tt.want != "") || ok && got != want {
				t.Errorf("got %v,\n%s, want\n%s", ok, got, want)
			}
		})
	}
}

// checkRedacted holds that a secret that stands once in a text is gone, and with
// it every word of it.
func checkRedacted(t *testing.T, form *Form, m menu, data []byte) {
	t.Helper()
	text, ok := form.Redact(data, "-", "notes", "other")
	if !ok {
		return
	}
	for _, v := range m.Notes {
		for word := range strings.FieldsSeq(v) { // folding joins lines with spaces
			if len(word) >= 8 && strings.Count(string(data), word) == 1 && strings.Contains(text, word) {
				t.Errorf("%q of %q is left in\n%s", word, v, text)
			}
		}
	}
}
