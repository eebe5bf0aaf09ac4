package chart

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

var (
	// dangerous is what begins a tag, a reference to a character or the second
	// half of a link.
	dangerous = regexp.MustCompile(`<[A-Za-z/!?]|` + reference.String() + `|\][(\[:]`)
	// reference is one to a character.
	reference = regexp.MustCompile(`&(#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);`)
	// block begins a heading, a list, a quotation, a rule or a fence.
	block = regexp.MustCompile("^([#>|=]|~~~|```|[-+*] |[-_*]{3}|[0-9]+[.)] )")
	// fences are those that stand in a block of code.
	fences = regexp.MustCompile("(?m)^\\s*(`{3,})")
)

// Text returns a text that may begin a line.
func MarkdownText(text string) string {
	text = inline(text)
	if block.MatchString(text) {
		return entity(text[0]) + text[1:]
	}
	return text
}

// Cell returns a text as a cell of a table.
func MarkdownCell(text string) string { return strings.ReplaceAll(inline(text), "|", entity('|')) }

// inline returns a text as a part of a line.
func inline(text string) string {
	return dangerous.ReplaceAllStringFunc(OneLine(text), func(found string) string {
		if found[0] == ']' {
			return "]" + entity(found[1])
		}
		return html.EscapeString(found[:1]) + found[1:]
	})
}

// Code returns a block of code; nothing within it ends it.
func MarkdownCode(language, code string) string {
	fence := "```"
	for _, found := range fences.FindAllStringSubmatch(code, -1) {
		if len(found[1]) >= len(fence) {
			fence = found[1] + "`"
		}
	}
	return fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}

// Plain is what was given to Text or Cell, but for ends of lines.
func UnescapeMarkdown(text string) string {
	return reference.ReplaceAllStringFunc(text, html.UnescapeString)
}

// OneLine returns a text without ends of lines and other control characters.
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
