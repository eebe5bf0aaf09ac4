package config

import (
	"regexp/syntax"
)

// maxEffort bounds the microseconds that the checks of regular expressions, schemas, distributions and
// Prometheus blocks take together. Their length does not show it: (a{1000}) has 1,000 instructions of 40 bytes.
const maxEffort = 300_000

// maxPattern bounds the bytes of a regular expression.
const maxPattern = 1000

// affords adds the effort of checking the key at path. It reports a mistake if all keys so far take too long.
func (b *builder) affords(path string, effort int) bool {
	b.effort += effort
	if b.effort > maxEffort && b.Valid(path) {
		b.Mistake(path, "", "takes too long to check, alone or together with the keys before it", "write fewer and shorter regular expressions, schemas, clients and Prometheus blocks")
	}
	return b.effort <= maxEffort
}

// effortOf returns the effort of checking a free value, such as a schema. The libraries compare each key with all
// others.
func effortOf(v any) int {
	values, patterns := measure(v)
	return values*values/200 + patterns
}

// measure counts the values in a free value, and the instructions of its regular expressions.
func measure(v any) (values, patterns int) {
	add := func(v any) {
		n, p := measure(v)
		values, patterns = values+n, patterns+p
	}
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); ok && (key == "pattern" || key == "regex") {
				patterns += patternSize(text)
			}
			if table, ok := inner.(map[string]any); ok && key == "patternProperties" {
				for text := range table {
					patterns += patternSize(text)
				}
			}
			add(inner)
		}
	case []any:
		for _, inner := range v {
			add(inner)
		}
	case []map[string]any:
		for _, inner := range v {
			add(inner)
		}
	}
	return values + 1, patterns
}

// patternSize estimates the instructions of a regular expression.
func patternSize(text string) int {
	if len(text) > maxPattern {
		return maxEffort + 1
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0 // the caller's library reports it
	}
	return treeSize(tree)
}

func treeSize(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n += treeSize(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return n
}
