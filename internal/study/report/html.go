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
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	code     = regexp.MustCompile("`([^`]+)`")
	notPlain = regexp.MustCompile(`[^a-z0-9]+`)
)

// HTML is the document as one page that needs nothing beside it: pictures are
// within, and there are no scripts.
func (d Document) HTML() ([]byte, error) {
	page, err := template.New("page").Funcs(template.FuncMap{
		"text": inline, "svg": embedded, "colors": func() template.CSS { return template.CSS(draw.StyleSheet()) },
		"anchor": anchor,
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

// embedded is a picture within the page.
func embedded(p *Picture) template.HTML {
	return template.HTML(p.SVG) // drawn by us, its texts escaped
}

// anchor is a section's address within the page.
func anchor(title string) string {
	return strings.Trim(notPlain.ReplaceAllString(strings.ToLower(title), "-"), "-")
}
