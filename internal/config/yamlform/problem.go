package yamlform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one mistake in a file, with its place.
type Problem struct {
	File string
	// Line and Column count from 1. They are 0 if the file cannot be read.
	Line, Column int
	// Field is the path of the key, such as "targets[0].base_url".
	Field string
	Mistake
}

// Mistake describes a wrong value and what to write instead.
type Mistake struct {
	// Value is the shortened text in the file. It is "" without a text, and for possible secrets.
	Value           string
	Message, Remedy string
}

// Bad returns the mistake of a value, which it shortens, and omits if it may be secret.
func Bad(value, message, remedy string) *Mistake {
	return &Mistake{Shown(value), message, remedy}
}

// Error returns one line: place, field, value with message, remedy.
func (p Problem) Error() string {
	place, message := p.File, p.Message
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Value != "" {
		message = fmt.Sprintf("%q %s", p.Value, message)
	}
	parts := []string{place, p.Field, message, p.Remedy}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Errors are all mistakes of a file in the order of their places.
type Errors []Problem

// Error returns one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds the listed mistakes: a file may have one in every line.
const maxProblems = 20

// Err returns the first maxProblems mistakes as Errors, or nil. A last one counts the others.
func (f *Form) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if f.unlisted > 0 {
		last := f.problems[len(f.problems)-1]
		last.Field, last.Mistake = "", *Bad("", fmt.Sprintf("and %d more", f.unlisted), "correct these first")
		return append(slices.Clip(f.problems), last)
	}
	return f.problems
}

// secretValue matches texts that are probably keys: by their prefix, or as a part of a URL.
var secretValue = regexp.MustCompile(`(?i)^(sk|hf|gsk|pk|ghp|xox[a-z])[-_]|^nvapi-|^eyJ|^bearer\s|^basic\s|//[^/\s]*@|[?&][^=]*(key|token|sig)[^=]*=`)

// longRun matches runs that are too long for a part of a host, a path or a name.
var longRun = regexp.MustCompile(`[A-Za-z0-9_+=-]{32,}`)

// LooksSecret reports whether a value may be a secret, which no message may repeat. It has false
// positives: a message without the value still has the place.
func LooksSecret(s string) bool {
	if secretValue.MatchString(strings.TrimSpace(s)) {
		return true
	}
	run := longRun.FindString(s)
	return run != "" && strings.ContainsAny(run, "0123456789")
}

const maxShown = 60 // characters of a value in a message

// Shown returns a value for a message: shortened, and "" if its first 4 kB look secret.
func Shown(s string) string {
	s = s[:min(len(s), 4<<10)]
	if LooksSecret(s) {
		return ""
	}
	if runes := []rune(s); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return s
}

// shownKey returns a key for a message, in one line.
func shownKey(key string) string {
	return cmp.Or(Shown(strings.Join(strings.Fields(key), " ")), "(a key not shown)")
}
