package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"synthetic/internal/study/runs"
)

// buildDocument makes the report of a study. The first of several series is the baseline.
func buildDocument(s *Study) (document, error) {
	if len(s.Series) == 0 {
		return document{}, fmt.Errorf("%q: no level was measured, so there is nothing to report", s.Title)
	}
	d := document{Title: s.Title}
	if !s.Generated.IsZero() {
		d.Date = strings.TrimSuffix(s.Generated.UTC().Format(time.DateTime+" UTC"), " 00:00:00 UTC") // a date alone
	}
	for _, add := range []func(*document, *Study){addVerdict, addLevelTables, addWinner, addDetail, addSaturation, addFindings, addSummary} {
		add(&d, s)
	}
	d.list("Defects of the Measurement", defects(s))
	addMethod(&d, s)
	text, err := s.reference()
	d.section("Reference Data (JSON)").add(block{Code: text, Language: "json"})
	return d, err
}

func (d *document) section(title string) *section {
	d.Sections = append(d.Sections, section{Title: title})
	return &d.Sections[len(d.Sections)-1]
}

func (d *document) subsection(title string) *section {
	part := d.section(title)
	part.Sub = true
	return part
}

// table adds a section with one table, unless it has no rows.
func (d *document) table(title string, t table) {
	if len(t.Rows) > 0 {
		d.section(title).table(t)
	}
}

// list adds a section with a list, unless it is empty.
func (d *document) list(title string, items []string) {
	if len(items) > 0 {
		d.section(title).list(items)
	}
}

// levelTitle returns the header of the first column: "Concurrency" or "Rate".
func levelTitle(s *Study) string { return capitalized(s.LevelName()) }

func formatLevel(v float64) string { return fmt.Sprintf("%g", v) }

// rowName returns the name of the row of a level. Rates have two decimals.
func rowName(s *Study, at float64) string {
	if s.LevelKind() == runs.Rate && at == float64(int(100*at))/100 {
		return fmt.Sprintf("%.2f", at)
	}
	return formatLevel(at)
}

// addMethod adds how and on what the study was measured.
func addMethod(d *document, s *Study) {
	d.table("Test Methodology", parameters(s.Method))
	d.table("Workload Parameters", workloadTable(s.Workload))
	var common []runs.Parameter
	own := map[string]bool{} // names whose values differ between variants
	for _, p := range s.Deployment {
		own[p.Name] = own[p.Name] || !isCommon(s, p)
	}
	for _, p := range s.Deployment {
		if p.Variant = ""; !own[p.Name] && !slices.ContainsFunc(common, func(c runs.Parameter) bool { return c.Name == p.Name }) {
			common = append(common, p)
		}
	}
	d.table("Deployment Details", parameters(common))
	d.table("Configuration Differences", configuration(s, own))
}

// isCommon reports whether every series has the parameter with the same value.
func isCommon(s *Study, p runs.Parameter) bool {
	return !slices.ContainsFunc(s.Series, func(series Series) bool {
		return p.Variant != "" && valueOf(s.Deployment, series.Name, p.Name) != p.Value
	})
}

// valueOf returns the value of a parameter for a variant, "–" if it has none.
func valueOf(list []runs.Parameter, variant, name string) string {
	for _, p := range list {
		if p.Name == name && (p.Variant == variant || p.Variant == "") {
			return p.Value
		}
	}
	return "–"
}

// configuration returns the parameters that differ between the series, side by side.
func configuration(s *Study, differs map[string]bool) table {
	t := table{Header: []string{"Parameter"}, Left: true}
	for i, series := range s.Series {
		name := series.Name
		if i == 0 && s.compares() {
			name += " (baseline)"
		}
		t.Header = append(t.Header, name)
	}
	for _, p := range s.Deployment {
		if !differs[p.Name] {
			continue
		}
		differs[p.Name] = false
		row := cells(p.Name)
		for _, series := range s.Series {
			row = append(row, cell{Text: valueOf(s.Deployment, series.Name, p.Name)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// parameters returns a table of names and values. It names the variant of a value.
func parameters(list []runs.Parameter) table {
	t := table{Header: []string{"Parameter", "Value"}, Left: true}
	for _, p := range list {
		if p.Variant != "" {
			p.Name += " (" + p.Variant + ")"
		}
		if row := cells(p.Name, p.Value); !slices.ContainsFunc(t.Rows, func(r []cell) bool { return slices.Equal(r, row) }) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// mostValue bounds the printed length of a parameter of the workload, such as a system prompt.
const mostValue = 60

// workloadTable returns the parameters of a workload. Long texts are cut, and those of follow-up turns are counted.
func workloadTable(list []runs.Parameter) table {
	var shown []runs.Parameter
	texts := 0
	for _, p := range list {
		if strings.HasPrefix(p.Name, "followups[") {
			texts++
			continue
		}
		if value := []rune(p.Value); len(value) > mostValue {
			p.Value = fmt.Sprintf("%s… (%d characters)", string(value[:mostValue]), len(value))
		}
		p.Name = capitalized(strings.ReplaceAll(p.Name, "_", " "))
		shown = append(shown, p)
	}
	if texts > 0 {
		shown = append(shown, runs.Parameter{Name: "Texts of follow-up turns", Value: fmt.Sprint(texts)})
	}
	return parameters(shown)
}

func capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// joinWords returns "a", "a and b", "a, b and c".
func joinWords(words []string) string {
	last := max(len(words)-1, 0)
	if last == 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
