package figures

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/study/runfile"
)

type table struct {
	heading string
	header  []string
	rows    [][]string
}

// markdownDocument holds the parts of a report in Markdown that are read.
type markdownDocument struct {
	title     string
	generated string
	bullets   []runfile.Parameter // list items of the methodology
	tables    []table
	json      string // the last ```json block
	unclosed  bool   // the JSON block has no end
}

var (
	boldBullet = regexp.MustCompile(`^- \*\*([^*]+):\*\*\s*(.*)$`)
	generated  = regexp.MustCompile(`^\*\*Generated:\*\*\s*(.*)$`)
	clock      = regexp.MustCompile(`\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?`)
)

func scanMarkdown(text string) markdownDocument {
	var d markdownDocument
	heading, fenced := "", ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, "```"):
			if fenced != "" {
				fenced = ""
			} else if fenced = line; line == "```json" {
				d.json = ""
			}
		case fenced == "```json":
			d.json += lines[i] + "\n"
		case fenced != "":
		case strings.HasPrefix(line, "# "):
			d.title = chart.UnescapeMarkdown(strings.TrimPrefix(line, "# "))
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case strings.HasPrefix(line, "|") && i+1 < len(lines) && isRule(lines[i+1]):
			t := table{heading: heading, header: splitRow(line)}
			for i += 2; i < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i]), "|"); i++ {
				// Rows get as many cells as the header has.
				t.rows = append(t.rows, append(splitRow(lines[i]), make([]string, len(t.header))...)[:len(t.header)])
			}
			i--
			d.tables = append(d.tables, t)
		default:
			if m := generated.FindStringSubmatch(line); m != nil {
				d.generated = clock.FindString(m[1])
			}
			if m := boldBullet.FindStringSubmatch(line); m != nil && strings.Contains(heading, "Method") {
				d.bullets = append(d.bullets, runfile.Parameter{Name: m[1], Value: m[2]})
			}
		}
	}
	d.unclosed = fenced == "```json"
	return d
}

func isRule(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "|") && strings.Trim(line, "|:- ") == "" && strings.Contains(line, "-")
}

func splitRow(line string) (all []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, chart.UnescapeMarkdown(strings.TrimSpace(cell)))
	}
	return all
}

// parseMarkdown reads the tables of a report and its JSON block. The exact figures of the block
// replace the printed figures.
func parseMarkdown(text string) (*Study, error) {
	d := scanMarkdown(text)
	if d.unclosed {
		return nil, fmt.Errorf("the JSON block is not closed: the report was written only in part; make it again")
	}
	s := &Study{Kind: runfile.Concurrency}
	if d.json != "" {
		var err error
		if s, err = parseData([]byte(d.json)); err != nil {
			return nil, fmt.Errorf("the JSON block: %w", err)
		}
		if d.own() {
			return s, nil
		}
	}
	s.Title = d.title
	for _, layout := range []string{time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, d.generated); err == nil {
			s.Generated = t
		}
	}
	s.Method = append(s.Method, d.bullets...)
	s.addTables(d)
	return s, s.validate()
}

// own reports whether the JSON block is the whole data of a report of this program.
func (d markdownDocument) own() bool {
	var own struct{ Schema int }
	return json.Unmarshal([]byte(d.json), &own) == nil && own.Schema > 0
}

func (d markdownDocument) seriesName() string {
	for _, b := range d.bullets {
		if b.Name == "Routing mode" {
			return strings.ToLower(strings.ReplaceAll(b.Value, "-", "_"))
		}
	}
	return d.title
}
