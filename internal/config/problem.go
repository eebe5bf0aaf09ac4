package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one mistake in a configuration file.
type Problem struct {
	// File is the name the file was read under.
	File string
	// Line and Column count from 1; 0 when the mistake has no place, such as a
	// file that cannot be read.
	Line, Column int
	// Field is the path of the key, for example "targets[0].base_url".
	Field string
	// Value is what was written, cut to a readable length; empty when there is
	// none or when it could be a secret.
	Value string
	// Message says what is wrong with it.
	Message string
	// Remedy says what to write instead.
	Remedy string
}

// Error gives the mistake in one line: place, field, value, message, remedy.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	if p.Value != "" {
		fmt.Fprintf(&b, "%q ", p.Value)
	}
	b.WriteString(p.Message)
	if p.Remedy != "" {
		b.WriteString(": " + p.Remedy)
	}
	return b.String()
}

// Errors are all mistakes of a file in the order of their places. It is the
// type of every error that Load and Parse return.
type Errors []Problem

// Error gives one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the mistakes in the order of the file; those of one place
// keep the order in which they were found.
func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}

// mistake is a Problem whose place and field are not yet known.
type mistake struct {
	value, message, remedy string
}

// maxShown is how many characters of a value a message repeats.
const maxShown = 60

// shown prepares a value for a message: short, and never a secret.
func shown(s string) string {
	if looksSecret(s) {
		return ""
	}
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}
