package metrics

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"synthetic/internal/probe"
)

//go:embed document.md.tmpl
var documentTemplate string

// Document returns the reference page of the metrics in Markdown.
func Document() ([]byte, error) {
	t, err := template.New("metrics.md").Funcs(template.FuncMap{
		"code": code, "list": list, "bounds": bounds,
	}).Parse(documentTemplate)
	if err != nil {
		return nil, fmt.Errorf("parsing the template of the metrics document: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, documentData()); err != nil {
		return nil, fmt.Errorf("writing the metrics document: %w", err)
	}
	return b.Bytes(), nil
}

type documentGroup struct {
	Labels  []string
	Metrics []Metric
}

func documentData() map[string]any {
	groups, others := grouped(Catalog())
	return map[string]any{
		"Groups": groups, "Others": others, "Pager": PagerCatalog(),
		"Failures": text(probe.Failures()), "SkipReasons": probe.SkipReasons(), "Phases": phaseNames(),
		"Buckets": buckets(),
	}
}

// grouped groups metrics by their labels, in the order of the catalog. Metrics with rare labels
// are returned as others.
func grouped(catalog []Metric) (groups []documentGroup, others []Metric) {
	const few = 3
	same := map[string][]Metric{}
	for _, m := range catalog {
		labels := list(m.Labels)
		same[labels] = append(same[labels], m)
	}
	for _, m := range catalog {
		switch all := same[list(m.Labels)]; {
		case len(all) < few:
			others = append(others, m)
		case all[0].Name == m.Name:
			groups = append(groups, documentGroup{m.Labels, all})
		}
	}
	return groups, others
}

func text[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

func code(s string) string { return "`" + s + "`" }

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = code(s)
	}
	return strings.Join(quoted, ", ")
}

func bounds(all []float64) string {
	texts := make([]string, len(all))
	for i, b := range all {
		texts[i] = strconv.FormatFloat(b, 'f', -1, 64)
	}
	return strings.Join(texts, ", ")
}
