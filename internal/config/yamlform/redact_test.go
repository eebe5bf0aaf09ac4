package yamlform

import (
	"strings"
	"testing"
)

// TestRedactForms checks that values of every form are replaced completely, and that a text without such
// values is unchanged.
func TestRedactForms(t *testing.T) {
	for name, tt := range map[string]struct{ notes, want string }{
		"quoted":              {`{a: 'it''s', b: "a \" b", c: d}`, " {a: (hidden), b: (hidden), c: (hidden)}"},
		"in a comment":        {"{a: hunter} # hunter2", " {a: (hidden)} # hunter2"},
		"a block":             {"\n  a: |\n    hunter\n    hunter", "\n  a: (hidden)"},
		"folded block":        {"\n  a: >-\n    hunter\n    hunter", "\n  a: (hidden)"},
		"plain in two lines":  {"\n  a: hunter\n    hunter", "\n  a: (hidden)"},
		"double in two lines": {"\n  a: \"hunter\n    hunter\"", "\n  a: (hidden)"},
		"an escaped line end": {"\n  a: \"hunter\\\n    hunter\"", "\n  a: (hidden)"},
		"single in two lines": {"\n  a: 'hunter\n    hunter'", "\n  a: (hidden)"},
		"behind an anchor":    {"{a: &x hunter}", " {a: (hidden)}"},
		"with a comment":      {"\n  a: hunter # hunter", "\n  a: (hidden)"},
		"none":                {"{}   # as it was", " {}   # as it was"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := decode(t, "name: x\nnotes: "+tt.notes+"\n")
			got := f.Redact("(hidden)", "notes")
			if want := "name: x\nnotes:" + tt.want + "\n"; got != want {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
		})
	}
}

// checkRedacted checks that no word of a hidden value is left, if the text had it once.
func checkRedacted(t *testing.T, form *Form, m menu, data []byte) {
	t.Helper()
	text := form.Redact("-", "notes", "other")
	for _, v := range m.Notes {
		for word := range strings.FieldsSeq(v) { // folding joins lines with spaces
			if len(word) >= 8 && strings.Count(string(data), word) == 1 && strings.Contains(text, word) {
				t.Errorf("%q of %q is left in\n%s", word, v, text)
			}
		}
	}
}
