package yamlform

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Redact is the text of the file with a note in place of every value under one
// of keys, from its beginning to the end of its line. Without ok a value has
// several lines, or is not where the library says, and no line can be told from
// another.
func (f *Form) Redact(data []byte, note string, keys ...string) (text string, ok bool) {
	lines := strings.SplitAfter(string(data), "\n")
	out := slices.Clone(lines)
	for _, node := range valuesUnder(f.places[""], keys, false) {
		if node.Line > len(lines) {
			return "", false
		}
		line := []rune(strings.TrimRight(lines[node.Line-1], "\r\n"))
		at := node.Column - 1
		if at > len(line) || !endsIn(string(line[at:]), node) {
			return "", false
		}
		if out[node.Line-1] == lines[node.Line-1] { // or what stands before it hid it as well
			out[node.Line-1] = string(line[:at]) + note + "\n"
		}
	}
	return strings.Join(out, ""), true
}

// endsIn says that a single value ends in the line of which rest begins with it.
// Quoted and plain text may go on in further lines, which are folded into it, so
// that the value itself need not show it.
func endsIn(rest string, node *yaml.Node) bool {
	switch node.Style {
	case 0: // plain
		return strings.HasPrefix(rest, node.Value)
	case yaml.SingleQuotedStyle:
		return strings.HasPrefix(rest, "'"+strings.ReplaceAll(node.Value, "'", "''")+"'")
	case yaml.DoubleQuotedStyle:
		rest, quoted := strings.CutPrefix(rest, `"`)
		return quoted && closed(rest)
	}
	return false // a block of lines, or behind a tag
}

// closed says that a double-quoted text ends in the rest of its line.
func closed(rest string) bool {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

// valuesUnder lists the single values below node that stand under one of keys;
// all of them once inside is true.
func valuesUnder(node *yaml.Node, keys []string, inside bool) (out []*yaml.Node) {
	if node.Kind == yaml.ScalarNode && inside {
		return []*yaml.Node{node}
	}
	for i, n := range node.Content {
		isKey := node.Kind == yaml.MappingNode && i%2 == 0
		if !isKey {
			named := node.Kind == yaml.MappingNode && slices.Contains(keys, node.Content[i-1].Value)
			out = append(out, valuesUnder(n, keys, inside || named)...)
		}
	}
	return out
}
