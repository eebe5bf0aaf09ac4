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

// report is what a run came to.
type report struct {
	s      *soak
	Checks []check
	Pages  []page
}

func (r *report) failed() bool {
	return slices.ContainsFunc(r.Checks, func(c check) bool { return !c.OK })
}

// summary is a line for each check.
func (r *report) summary() string {
	var out []string
	for _, c := range r.Checks {
		out = append(out, fmt.Sprintf("%-4s %s: %s", c.Mark(), c.Name, c.Seen))
	}
	return strings.Join(out, "\n")
}

// Mark says in a word how a check went.
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

// write writes soak.md and soak.json, which has every sample.
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

// Verdict is one word.
func (r *report) Verdict() string {
	if r.failed() {
		return "failed"
	}
	return "passed"
}

// Facts say what was run.
func (r *report) Facts() string {
	s := r.s
	return fmt.Sprintf("%v with seed %d: %d targets, %d faults of which %d are outages, %d lives of the program; %d processors, %s",
		time.Duration(s.lasted()*float64(time.Second)).Round(time.Second), s.seed, kept+churning, len(s.plan.Spells), r.outages(), len(s.program.lives), runtime.NumCPU(), runtime.GOARCH)
}

// Command repeats the run.
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

// Outcomes are how the turns of the lives that ended in good order ended.
func (r *report) Outcomes() string {
	all := counts{}
	for i, l := range r.s.program.lives {
		all[fmt.Sprint(i)] = l.final.sum()
	}
	sum := all.sum()
	return strings.Join(append([]string{fmt.Sprintf("%.0f turns", sum.Started)}, listOf(sum.Failed)...), ", ")
}

// Row is one line of the table of parts.
type Row struct {
	Name                                                      string
	Samples                                                   int
	RSS, Anon, Heap, Goroutines, Open, Threads, Series, Files float64
	Scrape, Slowest                                           float64
}

// longRun has a row for each hour instead of each part.
const longRun = 2 * time.Hour

// Rows are medians over parts of the run, with the highest RSS and the slowest
// scrape.
func (r *report) Rows() (rows []Row) {
	var names []string
	parts := map[string][]sample{}
	for _, one := range r.s.samples {
		name := fmt.Sprintf("%s, life %d", one.Phase, one.Life)
		if r.s.duration > longRun {
			kind := "faults"
			if one.Calm {
				kind = "calm"
			}
			name = fmt.Sprintf("hour %d, %s", int(one.At/3600)+1, kind)
		}
		if parts[name] == nil {
			names = append(names, name)
		}
		if one.Missed == "" {
			parts[name] = append(parts[name], one)
		}
	}
	for _, name := range names {
		rows = append(rows, rowOf(name, parts[name]))
	}
	return rows
}

func rowOf(name string, of []sample) Row {
	values := func(of_ func(sample) float64) (out []float64) {
		for _, one := range of {
			out = append(out, of_(one))
		}
		return out
	}
	scrapes := values(func(s sample) float64 { return 1e3 * s.Scrape })
	return Row{
		Name: name, Samples: len(of),
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
