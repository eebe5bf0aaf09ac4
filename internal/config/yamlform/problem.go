package yamlform

import (
	"cmp"
	"fmt"
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
	// Value is the shortened text in the file. It is "" without a text, and for keys that hold secrets.
	Value           string
	Message, Remedy string
}

// Bad returns the mistake of a value, which it shortens.
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
	if unlisted := len(f.problems) - maxProblems; unlisted > 0 {
		last := f.problems[maxProblems-1]
		last.Field, last.Mistake = "", *Bad("", fmt.Sprintf("and %d more", unlisted), "correct these first")
		return append(slices.Clone(f.problems[:maxProblems]), last)
	}
	return f.problems
}

const maxShown = 60 // characters of a value in a message

// Shown returns a value for a message, shortened.
func Shown(s string) string {
	if runes := []rune(s[:min(len(s), 4*maxShown+4)]); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return s
}

// shownKey returns a key for a message, in one line.
func shownKey(key string) string { return Shown(strings.Join(strings.Fields(key), " ")) }
