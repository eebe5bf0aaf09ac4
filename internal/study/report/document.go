// Package report writes studies down: as Markdown, as one page of HTML with
// its pictures, as JSON, as CSV and as SVG.
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

// Document is a report without a format.
type Document struct {
	Title string
	// Verdicts and the picture are the first screen.
	Verdicts []Badge
	Picture  *Picture
	// Lead are lines below it: when, and what to beware of.
	Lead     []string
	Sections []Section
}

// Section is a heading and what stands below it.
type Section struct {
	Title string
	// Sub marks a part of the section before it.
	Sub    bool
	Blocks []Block
}

// Block is one of its fields; the others are empty.
type Block struct {
	Paragraph string
	List      []string
	Table     *Table
	// Code is shown as it is; Language names it.
	Code, Language string
	Picture        *Picture
}

// Table has a header and rows of as many cells. The first column is the row's
// name.
type Table struct {
	Header []string
	Rows   [][]Cell
	// Left aligns every column left; otherwise figures are centered.
	Left bool
}

// Cell is what stands in a table, and how it is to be taken.
type Cell struct {
	Text  string
	Class Class
}

// Class colors a cell on the page.
type Class string

// The classes of cells that carry a judgement, or none for want of a figure.
const (
	Good    Class = "good"
	Bad     Class = "bad"
	Unknown Class = "unknown"
)

// cells are texts without a judgement.
func cells(texts ...string) []Cell {
	var all []Cell
	for _, t := range texts {
		all = append(all, Cell{Text: t})
	}
	return all
}

// cell is a text, or "n/a" where it is not known.
func cell(known bool, text string) Cell {
	if !known {
		return Cell{"n/a", Unknown}
	}
	return Cell{Text: text}
}

// Picture is a chart, and the name of the SVG file that lies beside the report.
type Picture struct {
	File  string
	Chart chart.Chart
}

// pictures are all of the document.
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

// list adds a list unless it is empty.
func (s *Section) list(items []string) {
	if len(items) > 0 {
		s.add(Block{List: items})
	}
}

// picture adds a picture unless there is none.
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

// Markdown writes the document; pictures are links to files beside it.
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

// HTML is the document as one page that needs nothing beside it. Without scripts
// its pictures are still there.
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

// inline is text with the little markup that documents use: bold and code.
func inlineMarkup(text string) htmltemplate.HTML {
	text = htmltemplate.HTMLEscapeString(text)
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	text = code.ReplaceAllString(text, "<code>$1</code>")
	return htmltemplate.HTML(text) // escaped above; only our own tags were added
}

// anchor is a section's address within the page.
func anchor(title string) string {
	return strings.Trim(notPlain.ReplaceAllString(strings.ToLower(title), "-"), "-")
}
