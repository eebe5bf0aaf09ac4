package yamlform

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestHostileFiles checks that a small file causes neither much memory use nor many messages.
func TestHostileFiles(t *testing.T) {
	numbered := func(format string, n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	nested := func(n int) string {
		return "name: x\nother: {a: " + strings.Repeat("{deeper: ", n) + "1" + strings.Repeat("}", n) + "}\n"
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	for name, tt := range map[string]struct {
		text, want string
		problems   int
	}{
		"many unknown keys": {numbered("key%d: 1\n", 20_000), "and 19980 more: correct these first", maxProblems + 1},
		"one key too often": {strings.Repeat("name: x\n", 20_000), "and 19979 more", maxProblems + 1},
		"many wrong items":  {"name: x\ndishes:\n" + strings.Repeat("- {price: x}\n", 5_000), "and 4980 more", maxProblems + 1},
		"a long list":       {"name: x\ndishes: [" + strings.Repeat("{},", 20_000) + "]", "has 20000 items, more than 5000: write fewer", 1},
		"many brackets":     {"name: x\nother: {a: [" + strings.Repeat("[],", 100_000) + "]}", "has 200005 colons, commas and brackets, more than 125000, or 25 for each of 5000 list items: write fewer", 1},
		"broken late":       {"name: x\n" + strings.Repeat("# y\n", 40_000) + "dishes: [{\n", "is not YAML", 1},
		"directives":        {numbered("%%TAG !%d! tag:x\n", 2_000) + "---\nname: x\n", "has 2000 %TAG directives, more than 100: remove them", 1},
		"nested":            {nested(5_000), "is nested more than 100 deep: write it flatter", 1},
		"not so nested":     {nested(90), "", 0},
		"aliases":           {bomb, "and 6 more", maxProblems + 1},
		"a long key":        {strings.Repeat("k ", 1<<19) + ": 1\n", "mapping values are not allowed", 1},
		"a long value":      {"name: x\nwait: " + strings.Repeat("9", 1<<19) + "s\n", "is not a duration", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			var m menu
			runtime.ReadMemStats(&before)
			form, err := Decode("menu.yml", []byte(tt.text), least, &m)
			if err == nil {
				err = form.Err()
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > allocates*(1<<20+500*uint64(len(tt.text))) {
				t.Errorf("%d bytes were allocated for a file of %d", took, len(tt.text))
			}
			problems, _ := errors.AsType[Errors](err)
			if len(problems) != tt.problems || err != nil && (!strings.Contains(err.Error(), tt.want) || len(err.Error()) > 200*(maxProblems+20)) {
				t.Errorf("%d problems in %d bytes: %.300v", len(problems), len(fmt.Sprint(err)), err)
			}
		})
	}
}
