// Package report writes studies as Markdown, as one HTML page with charts, and as JSON, CSV and
// SVG.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"regexp"
	"strings"
	"text/template"

	"synthetic/internal/chart"
)

// Document is a report independent of its format.
type Document struct {
	Title string
	// Verdicts and Picture are shown first.
	Verdicts []Badge
	Picture  *Picture
	// Lead holds the lines after them: date and warnings.
	Lead     []string
	Sections []Section
}

// Section is a heading and its contents.
type Section struct {
	Title string
	// Sub marks a subsection of the previous section.
	Sub    bool
	Blocks []Block
}

// Block has one of its fields set.
type Block struct {
	Paragraph string
	List      []string
	Table     *Table
	// Code is printed verbatim in Language.
	Code, Language string
	Picture        *Picture
}

// Table has rows with as many cells as the header. The first column names the row.
type Table struct {
	Header []string
	Rows   [][]Cell
	// Left aligns every column left; otherwise figures are centered.
	Left bool
}

type Cell struct {
	Text  string
	Class Class
}

// Class colors a cell on the HTML page.
type Class string

// Unknown marks missing figures.
const (
	Good    Class = "good"
	Bad     Class = "bad"
	Unknown Class = "unknown"
)

// cells returns cells without a class.
func cells(texts ...string) []Cell {
	var all []Cell
	for _, t := range texts {
		all = append(all, Cell{Text: t})
	}
	return all
}

// cell returns a text, or "n/a" if it is unknown.
func cell(known bool, text string) Cell {
	if !known {
		return Cell{"n/a", Unknown}
	}
	return Cell{Text: text}
}

// Picture is a chart and the name of its SVG file beside the report.
type Picture struct {
	File  string
	Chart chart.Chart
}

// pictures returns all pictures of the document.
func (d Document) pictures() []*Picture {
	var all []*Picture
	if d.Picture != nil {
		all = append(all, d.Picture)
	}
	for _, section := range d.Sections {
		for _, b := range section.Blocks {
			if b.Picture != nil {
				all = append(all, b.Picture)
			}
		}
	}
	return all
}

func (s *Section) add(b Block)           { s.Blocks = append(s.Blocks, b) }
func (s *Section) paragraph(text string) { s.add(Block{Paragraph: text}) }

func (s *Section) list(items []string) {
	if len(items) > 0 {
		s.add(Block{List: items})
	}
}

func (s *Section) picture(p *Picture) {
	if p != nil {
		s.add(Block{Picture: p})
	}
}

// table adds a table unless it has no rows.
func (s *Section) table(t Table) {
	if len(t.Rows) > 0 {
		s.add(Block{Table: &t})
	}
}

var (
	//go:embed report.md.tmpl
	markdownSource string
	//go:embed report.html.tmpl
	pageSource string

	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	code     = regexp.MustCompile("`([^`]+)`")
	notPlain = regexp.MustCompile(`[^a-z0-9]+`)
)

// Markdown returns the document with links to picture files beside it.
func (d Document) Markdown() ([]byte, error) {
	text := template.Must(template.New("report").Funcs(template.FuncMap{
		"text": chart.MarkdownText, "cell": chart.MarkdownCell, "code": chart.MarkdownCode,
	}).Parse(markdownSource))
	var b bytes.Buffer
	if err := text.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("writing the Markdown: %w", err)
	}
	return b.Bytes(), nil
}

// HTML returns the document as one self-contained page. It shows its pictures without scripts
// too.
func (d Document) HTML() ([]byte, error) {
	page := htmltemplate.Must(htmltemplate.New("page").Funcs(htmltemplate.FuncMap{
		"text": inlineMarkup, "anchor": anchor,
		"figure": func(p *Picture) (htmltemplate.HTML, error) { return chart.Figure(p.Chart) },
		"style":  chart.Style, "charts": chart.Script,
	}).Parse(pageSource))
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return b.Bytes(), nil
}

// inlineMarkup converts bold and code, the markup of documents, to HTML.
func inlineMarkup(text string) htmltemplate.HTML {
	text = htmltemplate.HTMLEscapeString(text)
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	text = code.ReplaceAllString(text, "<code>$1</code>")
	return htmltemplate.HTML(text) // escaped above, apart from our own tags
}

// anchor returns the address of a section within the page.
func anchor(title string) string {
	return strings.Trim(notPlain.ReplaceAllString(strings.ToLower(title), "-"), "-")
}
