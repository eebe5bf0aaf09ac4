package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// builder gathers the sections of one study.
type builder struct {
	s        *figures.Study
	capacity []analysis.Compliance
	doc      Document
	err      error
}

// Build writes a study down: one configuration by itself, several side by
// side and against the first.
func Build(s *figures.Study) (Document, error) {
	if len(s.Series) == 0 {
		return Document{}, fmt.Errorf("%q: no level was measured, so there is nothing to report", s.Title)
	}
	b := &builder{s: s, capacity: analysis.Comply(s)}
	b.doc.Title = s.Title
	if !s.Generated.IsZero() {
		b.doc.Lead = append(b.doc.Lead, "**Generated:** "+s.Generated.UTC().Format("2006-01-02 15:04:05")+" UTC")
	}
	b.findings()
	b.warnings()
	b.method()
	b.compliance()
	b.timings()
	b.errors()
	b.rates()
	b.server()
	b.saturation()
	b.comparison()
	b.notes()
	b.reference()
	return b.doc, b.err
}

// section starts a section and returns it to be filled.
func (b *builder) section(title string) *Section {
	b.doc.Sections = append(b.doc.Sections, Section{Title: title})
	return &b.doc.Sections[len(b.doc.Sections)-1]
}

func (b *builder) sub(title string) *Section {
	s := b.section(title)
	s.Sub = true
	return s
}

// baseline is the first series.
func (b *builder) baseline() figures.Series { return b.s.Series[0] }

func (b *builder) compares() bool { return len(b.s.Series) > 1 }

// levelTitle heads the first column.
func (b *builder) levelTitle() string {
	if b.s.Kind == runfile.Rate {
		return "Rate"
	}
	return "Concurrency"
}

// at names a level: "50", "0.75".
func at(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// heads puts the series' names before a column's title where there are
// several.
func (b *builder) heads(title string) []string {
	if !b.compares() {
		return []string{title}
	}
	var all []string
	for _, s := range b.s.Series {
		all = append(all, s.Name+" "+title)
	}
	return all
}

// levels are all levels of all series, in rising order.
func levels(s *figures.Study) []float64 {
	var all []float64
	for _, series := range s.Series {
		for _, l := range series.Levels {
			all = append(all, l.At)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// column is one column per series of a table by level.
type column struct {
	title string
	cell  func(figures.Level) Cell
}

// byLevel is a table with a row per level, and each column once per series.
func (b *builder) byLevel(columns ...column) Table {
	t := Table{Header: []string{b.levelTitle()}}
	for _, c := range columns {
		t.Header = append(t.Header, b.heads(c.title)...)
	}
	if len(columns) == 0 {
		return t
	}
	for _, v := range levels(b.s) {
		row := cells(at(v))
		for _, c := range columns {
			for _, s := range b.s.Series {
				cell := Cell{"–", Unknown}
				if l, ok := s.Level(v); ok {
					cell = c.cell(l)
				}
				row = append(row, cell)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// known are the columns of those metrics that some series has.
func (b *builder) known(metrics ...figures.Metric) []column {
	var all []column
	for _, m := range metrics {
		if b.s.Has(m) {
			all = append(all, column{m.Title(), func(l figures.Level) Cell { return figure(m, l) }})
		}
	}
	return all
}

// figure is a level's cell of a metric.
func figure(m figures.Metric, l figures.Level) Cell {
	f := l.Figure(m)
	if !f.Known() {
		return Cell{m.Cell(f), Unknown}
	}
	return Cell{Text: m.Cell(f)}
}

// where is a column if something holds of any level.
func (b *builder) where(holds func(figures.Level) bool, title string, cell func(figures.Level) Cell) []column {
	if !b.s.Any(holds) {
		return nil
	}
	return []column{{title, cell}}
}

func (b *builder) method() {
	if len(b.s.Method) > 0 {
		b.section("Test Methodology").table(parameters(b.s.Method))
	}
	if len(b.s.Deployment) > 0 {
		b.section("Deployment Details").table(parameters(b.s.Deployment))
	}
}

// parameters is a table of names and values. What holds for one variant only
// says for which, and what came from the deployment itself says from where.
func parameters(list []runfile.Parameter) Table {
	t := Table{Header: []string{"Parameter", "Value"}, Left: true}
	sources := slices.ContainsFunc(list, func(p runfile.Parameter) bool { return p.Source != "" })
	if sources {
		t.Header = append(t.Header, "Source")
	}
	for _, p := range merged(list) {
		if p.Variant != "" {
			p.Name += " (" + p.Variant + ")"
		}
		t.Rows = append(t.Rows, cells(p.Name, p.Value, p.Source)[:len(t.Header)])
	}
	return t
}

// merged joins parameters that are the same for several variants.
func merged(list []runfile.Parameter) []runfile.Parameter {
	var out []runfile.Parameter
	variants := map[string]bool{}
	for _, p := range list {
		variants[p.Variant] = true
	}
	for _, p := range list {
		i := slices.IndexFunc(out, func(o runfile.Parameter) bool {
			return o.Name == p.Name && o.Value == p.Value && o.Source == p.Source
		})
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].Variant += ", " + p.Variant
		if strings.Count(out[i].Variant, ", ")+1 == len(variants) {
			out[i].Variant = ""
		}
	}
	return out
}

func (b *builder) warnings() {
	all := analysis.Warnings(b.s)
	if len(all) == 0 {
		return
	}
	s := b.section("Warnings")
	s.paragraph("What keeps these figures from being taken at face value:")
	s.list(all)
}

func (b *builder) notes() {
	s := b.section("How to Read This")
	s.list(append([]string{
		"A range in parentheses is the 95 % confidence interval. It holds for turns that resemble their neighbours in time. A quantile without enough turns for one is not given: “n/a (212 of 368 turns)” says how many there are and how many it takes at least. “?” is an end of the interval that turns so alike do not support: the level drifts, or was measured for too short a time.",
		"TPOT is the time per output token after the first; ITL is the time between events that carry tokens, which with speculative decoding hold several.",
		"Latencies are over turns that gave one. “With failures” counts failed turns as +∞, because a deployment that sheds load looks faster among its survivors.",
		fmt.Sprintf("“n/a” is unknown, never 0. A run above %d %% errors is left out of latencies, and its level fails its SLOs.", figures.MaxErrorPct),
	}, b.s.Notes...))
}
