package yamlform

import (
	"cmp"
	"fmt"
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

// Err is nil, or all mistakes as an error of type Errors. Those of one place
// keep the order in which they were found.
func (f *Form) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.problems
}
