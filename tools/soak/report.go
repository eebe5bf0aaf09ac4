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
	return fmt.Sprintf("make soak DURATION=%v SEED=%d", r.s.duration, r.s.seed)
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

// row is one line of the table of parts.
type row struct {
	Name                                                      string
	Samples                                                   int
	RSS, Anon, Heap, Goroutines, Open, Threads, Series, Files float64
	Scrape, Slowest                                           float64
}

// A run longer than longRun has a row for each hour instead of each part.
const longRun = 2 * time.Hour

// Rows returns medians over parts of the run, with the largest RSS and the slowest scrape.
func (r *report) Rows() (rows []row) {
	var names []string
	parts := map[string][]sample{}
	for _, current := range r.s.samples {
		name := fmt.Sprintf("%s, life %d", current.Phase, current.Life)
		if r.s.duration > longRun {
			kind := "faults"
			if current.Calm {
				kind = "calm"
			}
			name = fmt.Sprintf("hour %d, %s", int(current.At/3600)+1, kind)
		}
		if parts[name] == nil {
			names = append(names, name)
		}
		if current.Missed == "" {
			parts[name] = append(parts[name], current)
		}
	}
	for _, name := range names {
		rows = append(rows, rowOf(name, parts[name]))
	}
	return rows
}

func rowOf(name string, samples []sample) row {
	values := func(get func(sample) float64) (out []float64) {
		for _, current := range samples {
			out = append(out, get(current))
		}
		return out
	}
	scrapes := values(func(s sample) float64 { return 1e3 * s.Scrape })
	return row{
		Name: name, Samples: len(samples),
		RSS:        quantile(values(func(s sample) float64 { return s.RSS / megabyte }), 1),
		Anon:       median(values(func(s sample) float64 { return s.Anon / megabyte })),
		Heap:       median(values(func(s sample) float64 { return s.Heap / megabyte })),
		Goroutines: median(values(func(s sample) float64 { return s.Goroutines })),
		Open:       median(values(func(s sample) float64 { return s.Open })),
		Threads:    median(values(func(s sample) float64 { return s.Threads })),
		Series:     median(values(func(s sample) float64 { return s.Series })),
		Files:      median(values(func(s sample) float64 { return s.Files })),
		Scrape:     median(scrapes), Slowest: quantile(scrapes, 1),
	}
}
