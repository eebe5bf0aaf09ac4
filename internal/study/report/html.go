package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"synthetic/internal/draw"
)

//go:embed page.html.tmpl
var pageSource string

var (
	styleElement = regexp.MustCompile(`(?s)<style>.*?</style>`)
	bold         = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	code         = regexp.MustCompile("`([^`]+)`")
	notPlain     = regexp.MustCompile(`[^a-z0-9]+`)
)

// HTML is the document as one page that needs nothing beside it: pictures are
// within, and there are no scripts.
func (d Document) HTML() ([]byte, error) {
	page, err := template.New("page").Funcs(template.FuncMap{
		"text": inline, "svg": embedded, "colors": func() template.CSS { return template.CSS(draw.StyleSheet()) },
		"anchor": anchor, "verdict": verdictClass,
	}).Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("reading the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return b.Bytes(), nil
}

// inline is text with the little markup that documents use: bold and code.
func inline(text string) template.HTML {
	text = template.HTMLEscapeString(text)
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	text = code.ReplaceAllString(text, "<code>$1</code>")
	return template.HTML(text) // escaped above; only our own tags were added
}

// embedded is a picture without its own style sheet: the page has the colors.
func embedded(p *Picture) template.HTML {
	return template.HTML(styleElement.ReplaceAll(p.SVG, nil)) // drawn by us, its texts escaped
}

// anchor is a section's address within the page.
func anchor(title string) string {
	return strings.Trim(notPlain.ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// verdictClass colors the cells that carry a judgement.
func verdictClass(cell string) string {
	switch {
	case strings.HasPrefix(cell, "PASS"), strings.Contains(cell, " better") && !strings.Contains(cell, "("):
		return "good"
	case strings.HasPrefix(cell, "FAIL"), strings.Contains(cell, " worse") && !strings.Contains(cell, "("):
		return "bad"
	case strings.HasPrefix(cell, "n/a"), cell == "–":
		return "unknown"
	}
	return ""
}
