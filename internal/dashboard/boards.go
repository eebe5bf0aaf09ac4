package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/sidecar/metrics"
)

// sources are the dashboards as data: YAML with the marks << and >> of
// text/template where something depends on the objectives. Queries are plain
// PromQL; the matchers of the dashboard's variables are put in by scoped.
//
//go:embed boards/*.yml
var sources embed.FS

// board is one dashboard before it is rendered.
type board struct {
	File, UID    string `yaml:"-"`
	Title, About string
	// PerProber adds the variable that picks probers by their instance.
	PerProber bool `yaml:"per_prober"`
	Rows      []row
}

// boards reads the dashboards for an input.
func boards(in Input) ([]board, error) {
	forms, err := template.New("").Delims("<<", ">>").Funcs(functions(in.SLOs)).ParseFS(sources, "boards/*.yml")
	if err != nil {
		return nil, err
	}
	out := []board{
		{File: "slo-overview", UID: OverviewUID},
		{File: "target-detail", UID: TargetUID},
		{File: "prober-health", UID: HealthUID},
	}
	for i := range out {
		b := &out[i]
		var text bytes.Buffer
		if err := forms.ExecuteTemplate(&text, b.File+".yml", in); err != nil {
			return nil, err
		}
		if err := decode(text.Bytes(), b); err != nil {
			return nil, fmt.Errorf("reading the dashboard %q: %w", b.File, err)
		}
		b.scope()
	}
	return out, nil
}

// decode reads YAML and refuses keys that it does not know.
func decode(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(into)
}

// scope puts the dashboard's variables into all its queries.
func (b *board) scope() {
	variables := []string{varTarget, varWorkload}
	if b.PerProber {
		variables = append(variables, varInstance)
	}
	for _, r := range b.Rows {
		for _, p := range r.Panels {
			for i := range p.Queries {
				p.Queries[i].Expr = scoped(p.Queries[i].Expr, variables)
			}
		}
	}
}

// selector is a series of ours with the matchers that it has, whose values may
// hold anything.
var selector = regexp.MustCompile(`\bsynthetic_\w+(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\})?`)

// scoped selects each series of a query by those variables whose label it has:
// variables are named as the labels.
func scoped(expr string, variables []string) string {
	return selector.ReplaceAllStringFunc(expr, func(series string) string {
		name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		var matchers []string
		for _, v := range variables {
			if v == varInstance || slices.Contains(labelsOf(name), v) {
				matchers = append(matchers, fmt.Sprintf("%s=~%q", v, "$"+v))
			}
		}
		if own != "" {
			matchers = append(matchers, own)
		}
		if len(matchers) == 0 {
			return name
		}
		return name + "{" + strings.Join(matchers, ",") + "}"
	})
}

// labelsOf returns the labels of a metric or of its buckets; nil when the
// catalog lacks it.
func labelsOf(series string) []string {
	name := strings.TrimSuffix(series, "_bucket")
	for _, m := range metrics.Catalog() {
		if m.Name == name {
			return m.Labels
		}
	}
	return nil
}
