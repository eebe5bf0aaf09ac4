package markdown

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
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
		got := Text(in)
		if got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
		if back := Plain(got); back != OneLine(in) {
			t.Errorf("%q is read as %q", got, back)
		}
	}
}

func TestCell(t *testing.T) {
	if got := Cell(`a|b \| c`); got != `a&#124;b \&#124; c` || Plain(got) != `a|b \| c` {
		t.Errorf("got %q", got)
	}
}

func TestCode(t *testing.T) {
	for in, fence := range map[string]string{"a\n": "```", "a ``` b": "```", "```\n<b>": "````", "x\n  `````": "``````"} {
		got := Code("json", in)
		if !strings.HasPrefix(got, fence+"json\n") || !strings.HasSuffix(got, "\n"+fence) {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// FuzzText: no text makes a tag, a cell or a line, and each can be read back.
func FuzzText(f *testing.F) {
	f.Add("<b>|`](\n&#60;")
	f.Fuzz(func(t *testing.T, text string) {
		got := Cell(text)
		if dangerous.MatchString(Plain(got)) && got == Plain(got) || strings.ContainsAny(got, "|\n\r") {
			t.Errorf("%q becomes %q", text, got)
		}
		if Plain(got) != OneLine(text) {
			t.Errorf("%q is read back as %q", text, Plain(got))
		}
	})
}
