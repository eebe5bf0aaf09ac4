//go:build linux

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"synthetic/tools/splice"
)

// report is the result of a run.
type report struct {
	s      *soak
	Checks []check
	Pages  []page
}

func (r *report) failed() bool {
	return slices.ContainsFunc(r.Checks, func(c check) bool { return !c.OK })
}

// summary has a line for each check.
func (r *report) summary() string {
	var out []string
	for _, c := range r.Checks {
		out = append(out, fmt.Sprintf("%-4s %s: %s", c.Mark(), c.Name, c.Seen))
	}
	return strings.Join(out, "\n")
}

// Mark is the result of a check in a word.
func (c check) Mark() string {
	switch {
	case !c.OK:
		return "FAIL"
	case c.Open:
		return "open"
	}
	return "ok"
}

//go:embed report.md.tmpl
var form string

// write writes soak.md, and soak.json with every sample.
func (r *report) write(dir string) error {
	t, err := template.New("soak.md").Parse(form)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	data, err := json.MarshalIndent(map[string]any{
		"seed": r.s.seed, "duration_seconds": r.s.lasted(), "checks": r.Checks, "lives": r.s.program.lives,
		"faults": r.s.plan.Spells, "acts": r.s.done, "pages": r.Pages, "samples": r.s.samples,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	files := map[string][]byte{"soak.md": []byte(text.String()), "soak.json": append(data, '\n')}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

// Verdict is the result of the run in one word.
func (r *report) Verdict() string {
	if r.failed() {
		return "failed"
	}
	return "passed"
}

// Facts describes the run.
func (r *report) Facts() string {
	s := r.s
	return fmt.Sprintf("%v with seed %d: %d targets, %d faults of which %d are outages, %d lives of the program; %d processors, %s",
		time.Duration(s.lasted()*float64(time.Second)).Round(time.Second), s.seed, kept+churning, len(s.plan.Spells), r.outages(), len(s.program.lives), runtime.NumCPU(), runtime.GOARCH)
}

// Command is the command that repeats the run.
func (r *report) Command() string {
	command := fmt.Sprintf("make soak DURATION=%v SEED=%d", r.s.duration, r.s.seed)
	if r.s.stalls {
		command += " STALLS=1"
	}
	return command
}

func (r *report) outages() (n int) {
	for _, f := range r.s.plan.Spells {
		if f.Outage {
			n++
		}
	}
	return n
}

// Outcomes lists the outcomes of turns in lives that ended normally.
func (r *report) Outcomes() string {
	all := counts{}
	for i, l := range r.s.program.lives {
		all[fmt.Sprint(i)] = l.final.sum()
	}
	sum := all.sum()
	return strings.Join(append([]string{fmt.Sprintf("%.0f turns", sum.Started)}, listOf(sum.Failed)...), ", ")
}

// A run longer than longRun has a row for each hour instead of each part.
const longRun = 2 * time.Hour

// column is a column of the table of parts: a quantile of a value over a part of the run.
type column struct {
	title, format string
	quantile      float64
	value         func(sample) float64
}

func columns() []column {
	return []column{
		{"RSS MB", "%.0f", 1, func(s sample) float64 { return s.RSS / megabyte }},
		{"anonymous MB", "%.0f", 0.5, func(s sample) float64 { return s.Anon / megabyte }},
		{"live heap MB", "%.1f", 0.5, func(s sample) float64 { return s.Heap / megabyte }},
		{"goroutines", "%.0f", 0.5, func(s sample) float64 { return s.Goroutines }},
		{"open files", "%.0f", 0.5, func(s sample) float64 { return s.Open }},
		{"threads", "%.0f", 0.5, func(s sample) float64 { return s.Threads }},
		{"series", "%.0f", 0.5, func(s sample) float64 { return s.Series }},
		{"files", "%.0f", 0.5, func(s sample) float64 { return s.Files }},
		{"scrape ms", "%.1f", 0.5, func(s sample) float64 { return 1e3 * s.Scrape }},
		{"slowest ms", "%.1f", 1, func(s sample) float64 { return 1e3 * s.Scrape }},
	}
}

// Parts is a table of the parts of the run.
func (r *report) Parts() string {
	var names []string
	parts := map[string][]sample{}
	for _, s := range r.s.samples {
		name := fmt.Sprintf("%s, life %d", s.Phase, s.Life)
		if r.s.duration > longRun {
			kind := "faults"
			if s.Calm {
				kind = "calm"
			}
			name = fmt.Sprintf("hour %d, %s", int(s.At/3600)+1, kind)
		}
		if parts[name] == nil {
			names = append(names, name)
		}
		if s.Missed == "" {
			parts[name] = append(parts[name], s)
		}
	}
	table := [][]string{{"part", "samples"}}
	for _, name := range names {
		table = append(table, []string{name, fmt.Sprint(len(parts[name]))})
	}
	for _, c := range columns() {
		table[0] = append(table[0], c.title)
		for i, name := range names {
			var values []float64
			for _, s := range parts[name] {
				values = append(values, c.value(s))
			}
			table[i+1] = append(table[i+1], fmt.Sprintf(c.format, quantile(values, c.quantile)))
		}
	}
	return splice.Table("--:", table...)
}
