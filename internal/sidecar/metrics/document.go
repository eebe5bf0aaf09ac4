package metrics

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/bound"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
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
	count := lines()
	perSLO := count[SLOTurns] + count[SLOViolations]
	perJob := -perSLO
	for _, m := range Catalog() {
		if slices.Contains(m.Labels, LabelWorkload) {
			perJob += count[m.Name]
		}
	}
	groups, others := grouped(Catalog())
	return map[string]any{
		"Groups": groups, "Others": others, "Pager": PagerCatalog(),
		"Lines": count, "PerJob": perJob, "PerSLO": perSLO,
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

// lines returns the number of text lines of each family, for one job with one SLO after every
// phase of both kinds of turns.
func lines() map[string]int {
	r := NewRecorder(Options{
		Build:           Build{Version: "v"},
		TimestampSource: func() string { return "s" },
		Heartbeat:       func(probe.Key) time.Time { return time.Unix(1, 0) },
		TurnLog:         func() uint64 { return 0 },
		Bounds:          []bound.Bound{{Level: func() (used, limit float64) { return 1, 1 }}},
	})
	second := probe.Some(time.Second)
	info := fleet.Job{
		Objectives:    []slo.Objective{{Name: "s", SLI: slo.TTFT, Threshold: time.Second}},
		ServerMetrics: true,
	}
	info.Traffic.Rate = 1
	r.Add(info)
	one := probe.Some(1.0)
	r.ServerRead("", serverside.Reading{
		Complete: true,
		State:    serverside.State{Running: one, Waiting: one, KVUse: one, TokenAge: second, Preemptions: one},
	})
	for _, kind := range probe.TurnKinds() {
		r.Observe(probe.Start{Kind: kind})
		r.Observe(probe.Result{
			Kind: kind, Outcome: probe.Stall,
			Asked: probe.Asked{TraceID: "t"},
			Timing: probe.Timing{Phases: probe.Phases{
				DNS: probe.Some(time.Second), Connect: probe.Some(time.Second), TLS: probe.Some(time.Second),
				Headers: probe.Some(time.Second), FirstEvent: probe.Some(time.Second),
			}},
		})
	}
	families, _ := r.Gather() // the error is always nil
	count := map[string]int{}
	for _, f := range families {
		for _, m := range f.Metric {
			count[f.GetName()] += samples(m)
		}
	}
	return count
}

// samples returns the number of lines of a series, with +Inf, sum and count.
func samples(m *dto.Metric) int {
	switch {
	case m.Histogram != nil:
		return len(m.Histogram.Bucket) + 3
	case m.Summary != nil:
		return len(m.Summary.Quantile) + 2
	}
	return 1
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
