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
	addDeployment(d, s)
}

// addDeployment adds the parameters that all series share, and those that differ side by side.
func addDeployment(d *document, s *Study) {
	common, apart := table{Header: []string{"Parameter", "Value"}, Left: true}, table{Header: []string{"Parameter"}, Left: true}
	for i, series := range s.Series {
		name := series.Name
		if i == 0 && s.compares() {
			name += " (baseline)"
		}
		apart.Header = append(apart.Header, name)
	}
	seen := map[string]bool{}
	for _, p := range s.Deployment {
		if seen[p.Name] {
			continue
		}
		seen[p.Name] = true
		var values []string
		for _, series := range s.Series {
			values = append(values, valueOf(s.Deployment, series.Name, p.Name, noValue))
		}
		if len(slices.Compact(slices.Clone(values))) > 1 {
			apart.Rows = append(apart.Rows, cells(append([]string{p.Name}, values...)...))
		} else if values[0] != noValue {
			common.Rows = append(common.Rows, cells(p.Name, values[0]))
		}
	}
	d.table("Deployment Details", common)
	d.table("Configuration Differences", apart)
}

const noValue = "–"

// valueOf returns the value that a parameter has for a variant. Without one it returns the value for all variants, and
// without that, missing.
func valueOf(list []runs.Parameter, variant, name, missing string) string {
	value := missing
	for _, p := range list {
		if p.Name == name && (p.Variant == variant || p.Variant == "" && value == missing) {
			value = p.Value
		}
	}
	return value
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
