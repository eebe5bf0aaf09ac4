package chart

import (
	"html"
	"strings"
	"testing"
)

func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"model-70b":                     "model-70b",
		"TTFT < 1000ms & more":          "TTFT < 1000ms & more",
		"**bold** and `code`":           "**bold** and `code`",
		"`code` first":                  "`code` first",
		"<script>alert(1)</script>":     "&lt;script>alert(1)&lt;/script>",
		`\<img src=x>`:                  `\&lt;img src=x>`,
		"<!-- hidden":                   "&lt;!-- hidden",
		"[click](javascript:alert(1))":  "[click]&#40;javascript:alert(1))",
		"![pixel](http://evil/x.png)":   "![pixel]&#40;http://evil/x.png)",
		"[a][b] [c]: http://evil":       "[a]&#91;b] [c]&#58; http://evil",
		"two\nlines\r\nand \x1b[31mred": "two lines  and \ufffd[31mred",
		"# heading":                     "&#35; heading",
		"- item":                        "&#45; item",
		"1. item":                       "&#49;. item",
		"12 turns":                      "12 turns",
		"```sh":                         "&#96;``sh",
		"| a | b |":                     "&#124; a | b |",
		"&lt;b> &#60;b>":                "&amp;lt;b> &amp;#60;b>",
	} {
		got := MarkdownText(in)
		if got != want {
			t.Errorf("MarkdownText(%q) = %q, want %q", in, got, want)
		}
		if back := unescape(got); back != OneLine(in) {
			t.Errorf("%q is read as %q", got, back)
		}
	}
}

func TestMarkdownCell(t *testing.T) {
	if got := MarkdownCell(`a|b \| c`); got != `a&#124;b \&#124; c` || unescape(got) != `a|b \| c` {
		t.Errorf("got %q", got)
	}
}

func TestMarkdownCode(t *testing.T) {
	for in, fence := range map[string]string{"a\n": "```", "a ``` b": "```", "```\n<b>": "````", "x\n  `````": "``````"} {
		got := MarkdownCode("json", in)
		if !strings.HasPrefix(got, fence+"json\n") || !strings.HasSuffix(got, "\n"+fence) {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// FuzzMarkdownCell checks that no text makes a tag, a cell or a line, and that each can be
// unescaped again.
func FuzzMarkdownCell(f *testing.F) {
	f.Add("<b>|`](\n&#60;")
	f.Fuzz(func(t *testing.T, text string) {
		got := MarkdownCell(text)
		if dangerous.MatchString(unescape(got)) && got == unescape(got) || strings.ContainsAny(got, "|\n\r") {
			t.Errorf("%q becomes %q", text, got)
		}
		if unescape(got) != OneLine(text) {
			t.Errorf("%q is read back as %q", text, unescape(got))
		}
	})
}

// unescape undoes MarkdownText and MarkdownCell, except for line ends.
func unescape(text string) string {
	return reference.ReplaceAllStringFunc(text, html.UnescapeString)
}
