package report

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// builder collects the sections of a study.
type builder struct {
	s         *figures.Study
	full      bool // the long form
	capacity  []Compliance
	decisions []decision // on the series after the first
	warnings  [][]warning
	level     string // the header of the first column: "Concurrency" or "Rate"
	compares  bool   // set with several series; the first is the baseline
	baseline  figures.Series
	doc       document
	// answerFindings are those about wrong answers, worst first.
	answerFindings []answerFinding
}

// buildDocument makes the report of a study: one page or, if full is set, with every table. The
// first of several series is the baseline.
func buildDocument(s *figures.Study, full bool) (document, error) {
	if len(s.Series) == 0 {
		return document{}, fmt.Errorf("%q: no level was measured, so there is nothing to report", s.Title)
	}
	level := s.LevelName()
	b := &builder{
		s: s, full: full, capacity: Comply(s), warnings: groupWarnings(studyWarnings(s)), level: strings.ToUpper(level[:1]) + level[1:],
		compares: len(s.Series) > 1, baseline: s.Series[0], doc: document{Title: s.Title},
	}
	b.page()
	if !full {
		b.appendix()
		return b.doc, nil
	}
	return b.doc, b.everything()
}

// everything adds the tables of the long form.
func (b *builder) everything() error {
	b.table("Test Methodology", parameters(b.s.Method))
	b.table("Deployment Details", parameters(b.s.Deployment))
	b.targets()
	b.winner()
	b.timings()
	b.errors()
	b.answers()
	b.rates()
	b.server()
	b.saturation()
	b.comparison()
	b.notes()
	text, err := compactJSON(b.s)
	b.section("Reference Data (JSON)").add(block{Code: text, Language: "json"})
	return err
}

func (b *builder) section(title string) *section {
	b.doc.Sections = append(b.doc.Sections, section{Title: title})
	return &b.doc.Sections[len(b.doc.Sections)-1]
}

func (b *builder) subsection(title string) *section {
	s := b.section(title)
	s.Sub = true
	return s
}

// table adds a section with one table, unless it has no rows.
func (b *builder) table(title string, t table) {
	if len(t.Rows) > 0 {
		b.section(title).table(t)
	}
}

// subtable adds a subsection with one table, unless it has no rows.
func (b *builder) subtable(title string, t table) {
	if len(t.Rows) > 0 {
		b.subsection(title).table(t)
	}
}

func formatLevel(v float64) string { return fmt.Sprintf("%g", v) }

// column is a column of a table by level, repeated for each series.
type column struct {
	title string
	cell  func(figures.Level) cell
	shows func(figures.Series) bool // nil shows all series
}

// byLevel returns a table with a row per level, without rows if columns is empty.
func (b *builder) byLevel(columns ...column) table {
	if len(columns) == 0 {
		return table{}
	}
	levels := b.s.Levels()
	t := table{Header: []string{b.level}}
	for _, at := range levels {
		t.Rows = append(t.Rows, cells(b.markLevel(at)))
	}
	for _, c := range columns {
		for _, s := range b.s.Series {
			if c.shows != nil && !c.shows(s) {
				continue
			}
			title := c.title
			if b.compares {
				title = s.Name + " " + title
			}
			t.Header = append(t.Header, title)
			for i, at := range levels {
				shown := cell{"–", classUnknown}
				if l, ok := s.Level(at); ok {
					shown = c.cell(l)
				}
				t.Rows[i] = append(t.Rows[i], shown)
			}
		}
	}
	return t
}

// markLevel returns a level, with a mark if a series is unsound there.
func (b *builder) markLevel(at float64) string {
	for _, s := range b.s.Series {
		if l, ok := s.Level(at); ok && unsound(l) != "" {
			return formatLevel(at) + " †"
		}
	}
	return formatLevel(at)
}

// metricColumns returns columns for the metrics that are known at some level.
func (b *builder) metricColumns(metrics ...figures.Metric) []column {
	var all []column
	for _, m := range metrics {
		if b.s.Any(func(l figures.Level) bool { return l.Figure(m).Known() }) {
			all = append(all, column{title: m.Title(), cell: func(l figures.Level) cell { return figure(m, l) }})
		}
	}
	return all
}

func figure(m figures.Metric, l figures.Level) cell {
	f := l.Figure(m)
	if !f.Known() {
		return cell{m.Cell(f), classUnknown}
	}
	return cell{Text: m.Cell(f)}
}

func (b *builder) columnIf(holds func(figures.Level) bool, title string, cell func(figures.Level) cell) []column {
	if !b.s.Any(holds) {
		return nil
	}
	return []column{{title: title, cell: cell}}
}

// parameters returns a table of names and values. It names the variants if a value does not
// apply to all, and the source of values from the deployment.
func parameters(list []runfile.Parameter) table {
	t := table{Header: []string{"Parameter", "Value"}, Left: true}
	if slices.ContainsFunc(list, func(p runfile.Parameter) bool { return p.Source != "" }) {
		t.Header = append(t.Header, "Source")
	}
	var rows []runfile.Parameter
	variants, owners := map[string]bool{}, map[runfile.Parameter][]string{}
	for _, p := range list {
		owner := p.Variant
		variants[owner], p.Variant = true, ""
		if owners[p] == nil {
			rows = append(rows, p)
		}
		owners[p] = append(owners[p], owner)
	}
	for _, p := range rows {
		n := len(owners[p])
		if text := strings.Join(owners[p], ", "); text != "" && (n == 1 || n < len(variants)) {
			p.Name += " (" + text + ")"
		}
		t.Rows = append(t.Rows, cells(p.Name, p.Value, p.Source)[:len(t.Header)])
	}
	return t
}

func (b *builder) notes() {
	b.section("How to Read This").list(append([]string{
		"A range in parentheses is the 95 % confidence interval. It allows for turns that resemble their neighbours in time. “–” replaces a quantile with too few turns for an interval, which judges nothing. “(?)” replaces an interval that is wider than its value. “?” is an unknown end of an interval: neighbouring turns are too much alike, because the level drifts or was measured for too short a time.",
		"TPOT is the time per output token after the first. ITL is the time between events with tokens; with speculative decoding an event has several tokens.",
		"Latencies count the turns that have one. “With failures” counts failed turns as +∞, because a deployment that sheds load looks faster if only its successful turns count.",
		fmt.Sprintf("“n/a” means unknown, never 0. A run above %d %% errors is left out of latencies, and its level fails its SLOs.", figures.MaxErrorPct),
	}, b.marks()...))
}
