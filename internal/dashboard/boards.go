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

// sources are the dashboards in YAML, with actions of text/template for parts that depend on the
// objectives. Queries are plain PromQL; scoped adds the matchers of the dashboard's variables.
//
//go:embed boards/*.yml
var sources embed.FS

type board struct {
	File, UID    string `yaml:"-"`
	Title, About string
	// PerProber adds a variable that selects probers by instance.
	PerProber bool `yaml:"per_prober"`
	// OneJob limits the variables to one target and one workload.
	OneJob bool `yaml:"one_job"`
	// Empty is what panels say if they have no text of their own for an empty answer. Stats say
	// "unknown".
	Empty string
	Rows  []row
	// Marks appear on the time axis of every panel.
	Marks []mark `yaml:"-"`
}

// mark is an annotation: a thin line at each sample of its query.
type mark struct{ Name, Color, Text, Expr string }

func boards(in Input) ([]board, error) {
	forms, err := template.New("").Delims("<<", ">>").Funcs(functions(in)).ParseFS(sources, "boards/*.yml")
	if err != nil {
		return nil, err
	}
	out := []board{
		{File: "slo-overview", UID: overviewUID},
		{File: "fleet", UID: fleetUID},
		{File: "target-detail", UID: TargetUID},
		{File: "prober-health", UID: HealthUID},
	}
	read := func(file string, into any) error {
		var text bytes.Buffer
		if err := forms.ExecuteTemplate(&text, file+".yml", in); err != nil {
			return err
		}
		if err := decode(text.Bytes(), into); err != nil {
			return fmt.Errorf("reading the dashboard %q: %w", file, err)
		}
		return nil
	}
	var marks []mark
	if err := read("marks", &marks); err != nil {
		return nil, err
	}
	for i := range out {
		b := &out[i]
		if err := read(b.File, b); err != nil {
			return nil, err
		}
		b.Marks = marks
		b.complete()
	}
	return out, nil
}

// decode parses YAML and rejects unknown keys.
func decode(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(into)
}

// complete adds the dashboard's text for empty panels and its variables to all of its panels.
func (b *board) complete() {
	variables := []string{varTarget, varWorkload}
	if b.PerProber {
		variables = append(variables, varInstance)
	}
	for _, r := range b.Rows {
		for j := range r.Panels {
			p := &r.Panels[j]
			if p.Empty == "" && p.Stat == nil {
				p.Empty = b.Empty
			}
			for i := range p.Queries {
				expr := p.Queries[i].Expr
				if p.Table != nil {
					expr = p.Table.complete(expr)
				}
				p.Queries[i].Expr = scoped(expr, b.OneJob, variables)
			}
		}
	}
}

// selector matches a series of this program with its matchers, whose values may contain
// anything.
var selector = regexp.MustCompile(`\bsynthetic_\w+(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\})?`)

// scoped adds a matcher for each variable whose label the series has; variables are named after
// labels. Grafana does not escape regexp characters in a variable with a single value, such as
// the name of a model.
func scoped(expr string, singleValue bool, variables []string) string {
	equals := "=~"
	if singleValue {
		equals = "="
	}
	return selector.ReplaceAllStringFunc(expr, func(series string) string {
		name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		var matchers []string
		for _, v := range variables {
			if v == varInstance || slices.Contains(labelsOf(name), v) {
				matchers = append(matchers, fmt.Sprintf("%s%s%q", v, equals, "$"+v))
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

// labelsOf returns the labels of a metric or of its buckets; nil for an unknown metric.
func labelsOf(series string) []string {
	name := strings.TrimSuffix(series, "_bucket")
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		if m.Name == name {
			return m.Labels
		}
	}
	return nil
}
