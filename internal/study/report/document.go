// Package report draws conclusions from studies: compliance with SLOs, saturation, comparisons,
// warnings, and the gate for changes. It writes them as Markdown, as one HTML page with charts,
// and as JSON, CSV and SVG.
//
// Nothing is rounded before a conclusion unless a figure is only known as printed.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"strings"
	"text/template"

	"synthetic/internal/chart"
)

// document is a report independent of its format.
type document struct {
	Title string
	// Verdicts, Lead (further lines) and Picture are shown first.
	Verdicts []badge
	Lead     []string
	Picture  *picture
	Sections []section
}

// section is a heading and its contents.
type section struct {
	Title string
	// Sub marks a subsection of the previous section.
	Sub    bool
	Blocks []block
}

// block has one of its fields set.
type block struct {
	Paragraph string
	List      []string
	Table     *table
	// Code is printed verbatim in Language.
	Code, Language string
	Picture        *picture
}

// table has rows with as many cells as the header. The first column names the row.
type table struct {
	Header []string
	Rows   [][]cell
	// Left aligns every column left; otherwise figures are centered.
	Left bool
}

type cell struct {
	Text  string
	Class class
}

// class colors a cell on the HTML page.
type class string

const (
	classGood    class = "good"
	classBad     class = "bad"
	classUnknown class = "unknown" // the figure is missing
)

func cells(texts ...string) []cell {
	var all []cell
	for _, t := range texts {
		all = append(all, cell{Text: t})
	}
	return all
}

// cellIf returns a text, or "n/a" if it is unknown.
func cellIf(known bool, text string) cell {
	if !known {
		return cell{"n/a", classUnknown}
	}
	return cell{Text: text}
}

// picture is a chart and the name of its SVG file beside the report.
type picture struct {
	File  string
	Chart chart.Chart
}

func (d document) pictures() []*picture {
	var all []*picture
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

func (s *section) add(b block)           { s.Blocks = append(s.Blocks, b) }
func (s *section) paragraph(text string) { s.add(block{Paragraph: text}) }

func (s *section) list(items []string) {
	if len(items) > 0 {
		s.add(block{List: items})
	}
}

func (s *section) picture(p *picture) {
	if p != nil {
		s.add(block{Picture: p})
	}
}

// table adds a table unless it has no rows.
func (s *section) table(t table) {
	if len(t.Rows) > 0 {
		s.add(block{Table: &t})
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

// markdown returns the document with links to picture files beside it.
func (d document) markdown() ([]byte, error) {
	text := template.Must(template.New("report").Funcs(template.FuncMap{
		"text": chart.MarkdownText, "cell": chart.MarkdownCell, "code": chart.MarkdownCode,
	}).Parse(markdownSource))
	return execute(text, d)
}

func execute(t interface{ Execute(io.Writer, any) error }, d document) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return b.Bytes(), nil
}

// html returns the document as one self-contained page. It shows its pictures without scripts
// too.
func (d document) html() ([]byte, error) {
	page := htmltemplate.Must(htmltemplate.New("page").Funcs(htmltemplate.FuncMap{
		"text": inlineMarkup, "anchor": anchor,
		"figure": func(p *picture) (htmltemplate.HTML, error) { return chart.Figure(p.Chart) },
		"style":  chart.Style, "charts": chart.Script,
	}).Parse(pageSource))
	return execute(page, d)
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
