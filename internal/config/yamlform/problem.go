package yamlform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one mistake in a file.
type Problem struct {
	// File is the name the file was read under.
	File string
	// Line and Column count from 1; 0 when the mistake has no place, such as a
	// file that cannot be read.
	Line, Column int
	// Field is the path of the key, for example "targets[0].base_url".
	Field string
	Mistake
}

// Mistake is what is wrong with a value, wherever it stands.
type Mistake struct {
	// Value is what was written, cut to a readable length; empty when there is
	// none or when it could be a secret.
	Value string
	// Message says what is wrong with it.
	Message string
	// Remedy says what to write instead.
	Remedy string
}

// Bad returns the mistake of a value. It repeats of the value what is short and
// no secret.
func Bad(value, message, remedy string) *Mistake {
	return &Mistake{Shown(value), message, remedy}
}

// Error gives the mistake in one line: place, field, value, message, remedy.
func (p Problem) Error() string {
	place, said := p.File, p.Message
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Value != "" {
		said = fmt.Sprintf("%q %s", p.Value, said)
	}
	parts := []string{place, p.Field, said, p.Remedy}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Errors are all mistakes of a file in the order of their places.
type Errors []Problem

// Error gives one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// mostProblems is how many mistakes are told apart: more than anybody corrects
// at once, and few enough to be kept and printed whatever the file holds.
const mostProblems = 200

// Err is nil, or all mistakes as an error of type Errors. Those of one place
// keep the order in which they were found. Of very many the first ones are there,
// and at the end how many there are besides.
func (f *Form) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if f.more > 0 {
		last := f.problems[len(f.problems)-1]
		last.Field, last.Mistake = "", *Bad("", fmt.Sprintf("%d more mistakes are not shown", f.more), "correct these first")
		return append(slices.Clip(f.problems), last)
	}
	return f.problems
}

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
	if runes := []rune(s); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return s
}

// shownKey prepares a key for a message: one line, short, and no secret.
func shownKey(key string) string {
	if s := Shown(strings.Join(strings.Fields(key), " ")); s != "" {
		return s
	}
	return "(a key not shown)"
}
