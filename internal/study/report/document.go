// Package report reads studies, which are levels with named figures, from runs of this program or from other tools'
// reports. It draws conclusions from them: level tables side by side, compliance with SLOs, saturation, comparisons
// with a baseline, and the gate for changes. It writes them as Markdown, as one HTML page with charts, as text for a
// terminal, and as JSON and SVG.
//
// Times are milliseconds and shares are percent, as in other tools' reports. Nothing is rounded before a conclusion.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"text/template"

	"synthetic/internal/chart"
)

// document is a report independent of its format.
type document struct {
	Title, Date string
	// Verdict has at most three sentences; Class colors it.
	Verdict []string
	Class   class
	Picture *picture
	// Sections are the level tables, as many as Tables, and then the rest.
	Sections []section
	Tables   int
	// Footnotes explain the marks in the tables, and say what they prove.
	Footnotes []string
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
	Mark  mark // ends the text
}

// mark is a sign in a cell that a footnote explains.
type mark int

const (
	noMark mark = iota
	markUnreached
	markSurvivors
	markNoise
	markLargest
)

// text returns what follows the figure in a cell.
func (m mark) text() string { return [...]string{"", " †", " (survivors)", " ~", " ~"}[m] }

// footnote explains the mark.
func (m mark) footnote() string {
	return map[mark]string{
		markUnreached: "† is not compared: the level did not carry its load.",
		markSurvivors: "(survivors): more turns failed than in the baseline, and the others had more of the deployment.",
		markNoise:     "~ behind a change: the 95 % intervals do not separate the two figures. report.json has the intervals.",
		markLargest:   "~ behind a latency: so few turns that it is the largest one.",
	}[m]
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

func unknownCell(text string) cell { return cell{Text: text, Class: classUnknown} }

func marked(text string, m mark) cell { return cell{Text: text + m.text(), Mark: m} }

// cellIf returns a text, or "n/a" if it is unknown.
func cellIf(known bool, text string) cell {
	if !known {
		return unknownCell("n/a")
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

func (s *section) add(b block) { s.Blocks = append(s.Blocks, b) }

// paragraph adds a text unless it is empty.
func (s *section) paragraph(text string) {
	if text != "" {
		s.add(block{Paragraph: text})
	}
}

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

// html returns the document as one self-contained page. It shows its pictures without scripts too.
func (d document) html() ([]byte, error) {
	page := htmltemplate.Must(htmltemplate.New("page").Funcs(htmltemplate.FuncMap{
		"text": inlineMarkup, "anchor": anchor, "header": header,
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

// header lets the words of a table's header break on a narrow screen.
func header(text string) htmltemplate.HTML {
	broken := strings.NewReplacer("_", "_<wbr>", "Improvement", "Improve&shy;ment", "Concurrency", "Concur&shy;rency", "Concurrent", "Concur&shy;rent")
	return htmltemplate.HTML(broken.Replace(htmltemplate.HTMLEscapeString(text)))
}

// anchor returns the address of a section within the page.
func anchor(title string) string {
	return strings.Trim(notPlain.ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// terminal returns the level tables with aligned columns, the footnotes, and the verdict.
func (d document) terminal() string {
	var b strings.Builder
	for _, s := range d.Sections[:d.Tables] {
		for _, x := range s.Blocks {
			if x.Table != nil {
				fmt.Fprintf(&b, "%s\n%s\n", chart.OneLine(s.Title), x.Table.aligned())
			}
		}
	}
	for _, text := range d.Footnotes {
		b.WriteString(chart.OneLine(text) + "\n\n")
	}
	b.WriteString(chart.OneLine(strings.Join(d.Verdict, " ")) + "\n")
	return b.String()
}

// aligned returns the table as text with columns of equal width, aligned right.
func (t table) aligned() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]cell{cells(t.Header...)}, t.Rows...) {
		for _, c := range row {
			fmt.Fprint(w, chart.OneLine(c.Text), "\t")
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a Builder does not fail
	return b.String()
}
