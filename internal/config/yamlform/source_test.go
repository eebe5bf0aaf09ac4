package yamlform

import (
	"errors"
	"testing"
)

// TestSyntaxLines checks the reported line of YAML syntax errors.
func TestSyntaxLines(t *testing.T) {
	for text, want := range map[string]int{
		"a: 1\nb:\n  - c: 1\n   d: 2\ne: 1\n":       4,
		"a: 1\nb: [{c: d]\ne: 1\nf: 1\n":            2,
		"a: 1\nb: [c, d\ne: 1\nf: 1\n":              2,
		"a: 1\nb: [\n  c,\n  d\n]\ne: ]\nf: 1\n":    6,
		"a: 1\nb:\n\t- c\n":                         3,
		"a: 1\nb: c: d\ne: 1\n":                     2,
		"a: 1\nb: \"c\ne: 1\n":                      2,
		"a: 1\n b: 2\n":                             2,
		"a: 1\nb\ne: 1\n":                           2,
		"a: {b: 1\ne: 1\n":                          1,
		"a: 1\nb: @c\n":                             2,
		"a: 1\nb: x\n\nc: *nobody\n":                4,
		"a: 1\r\nb:\r\n  - c: 1\r\n   d: 2\r\ne: 1": 4,
	} {
		_, err := parse("synthetic.yml", []byte(text), "write something")
		problems, _ := errors.AsType[Errors](err)
		if len(problems) != 1 || problems[0].Line != want {
			t.Errorf("%q: got %v, want line %d", text, problems, want)
		}
	}
}
