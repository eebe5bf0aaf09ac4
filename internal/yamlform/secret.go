package yamlform

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// secretValue matches texts that are probably keys: the known prefixes, user
// information in a URL, and long runs without a separator.
var secretValue = regexp.MustCompile(`(?i)^(sk|hf|gsk|pk|ghp|xox[a-z])[-_]|^nvapi-|^eyJ|^bearer\s|^basic\s|//[^/\s]*@|[?&][^=]*(key|token|sig)[^=]*=`)

// longRun matches what no host, path or name is made of.
var longRun = regexp.MustCompile(`[A-Za-z0-9_+=-]{32,}`)

// LooksSecret reports whether a value may be a secret and must not be printed.
// It errs on the side of silence: the place in the file is always given.
func LooksSecret(s string) bool {
	if secretValue.MatchString(strings.TrimSpace(s)) {
		return true
	}
	run := longRun.FindString(s)
	return run != "" && strings.ContainsAny(run, "0123456789")
}

// maxShown is how many characters of a value a message repeats.
const maxShown = 60

// Shown prepares a value for a message: short, and never a secret.
func Shown(s string) string {
	if LooksSecret(s) {
		return ""
	}
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}

// shownKey prepares a key for a message: one line, short, and no secret.
func shownKey(key string) string {
	if s := Shown(strings.Join(strings.Fields(key), " ")); s != "" {
		return s
	}
	return "(a key not shown)"
}

// Redact is the text of the file with a note in place of every value under one
// of keys, from its beginning to the end of its line. Without ok a value has
// several lines, and no line can be told from another.
func (f *Form) Redact(data []byte, note string, keys ...string) (text string, ok bool) {
	lines := strings.SplitAfter(string(data), "\n")
	for _, node := range valuesUnder(f.places[""], keys, false) {
		if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(node.Value, "\n") {
			return "", false
		}
		line := []rune(strings.TrimRight(lines[node.Line-1], "\r\n"))
		if at := node.Column - 1; at <= len(line) {
			lines[node.Line-1] = string(line[:at]) + note + "\n"
		}
	}
	return strings.Join(lines, ""), true
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
