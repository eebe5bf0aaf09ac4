package chart

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

var (
	// dangerous matches the start of a tag, a character reference and the middle of a link.
	dangerous = regexp.MustCompile(`<[A-Za-z/!?]|` + reference.String() + `|\][(\[:]`)
	// reference matches a character reference.
	reference = regexp.MustCompile(`&(#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);`)
	// block matches the start of a heading, list, quotation, table, rule or code fence.
	block  = regexp.MustCompile("^([#>|=]|~~~|```|[-+*] |[-_*]{3}|[0-9]+[.)] )")
	fences = regexp.MustCompile("(?m)^\\s*(`{3,})")
)

// MarkdownText escapes a text of foreign origin (a model's name, an error message) so that it
// stays text even at the start of a line. Bold and code markup is kept, because the reports use
// it.
func MarkdownText(text string) string {
	text = inline(text)
	if block.MatchString(text) {
		return entity(text[0]) + text[1:]
	}
	return text
}

// MarkdownCell escapes a text for a cell of a table.
func MarkdownCell(text string) string { return strings.ReplaceAll(inline(text), "|", entity('|')) }

// inline escapes a text for the middle of a line.
func inline(text string) string {
	return dangerous.ReplaceAllStringFunc(OneLine(text), func(found string) string {
		if found[0] == ']' {
			return "]" + entity(found[1])
		}
		return html.EscapeString(found[:1]) + found[1:]
	})
}

// MarkdownCode returns a code block. Its fence is longer than every fence in the code.
func MarkdownCode(language, code string) string {
	fence := "```"
	for _, found := range fences.FindAllStringSubmatch(code, -1) {
		if len(found[1]) >= len(fence) {
			fence = found[1] + "`"
		}
	}
	return fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}

// OneLine replaces white space, such as line ends, by spaces, and other control characters by U+FFFD.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func entity(c byte) string { return fmt.Sprintf("&#%d;", c) }
