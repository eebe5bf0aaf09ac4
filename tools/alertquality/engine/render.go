package engine

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
)

// Report is the result of a backtest.
type Report struct {
	// Settings describe how the scores were made, one line each.
	Settings []string `json:"settings"`
	// Partial says how much is scored if the replay was stopped; "" if it was not.
	Partial string  `json:"partial,omitempty"`
	Scores  []Score `json:"scores"`
}

type file struct {
	Name string
	Data []byte
}

// Files returns the report as scores.md and scores.json, and a partial one as scores-partial.md and
// scores-partial.json, so that it does not replace a complete one.
func (r Report) Files() ([]file, error) {
	var tables bytes.Buffer
	if err := r.WriteMarkdown(&tables); err != nil {
		return nil, err
	}
	figures, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the scores as JSON: %w", err)
	}
	name := "scores"
	if r.Partial != "" {
		name = "scores-partial"
	}
	return []file{{name + ".md", tables.Bytes()}, {name + ".json", append(figures, '\n')}}, nil
}

//go:embed report.md.tmpl
var scoreTables string

// WriteMarkdown writes the tables of the report.
func (r Report) WriteMarkdown(w io.Writer) error {
	t, err := template.New("tables").Funcs(template.FuncMap{
		"sets": func(model string) []Score { return r.scores(model, false) },
		"targets": func(model string) []Score {
			return slices.DeleteFunc(slices.Clone(r.Scores), func(s Score) bool { return s.Model != model || s.Target == "" })
		},
		"found":   found,
		"alerts":  func(model string) []Score { return r.scores(model, true) },
		"faults":  func(model string) []FaultScore { return r.scores(model, false)[0].Faults },
		"percent": percent, "duration": optionalDuration,
		"hours": func(v float64) string { return duration(v * 3600) },
		"share": func(v float64) string { return percent(&v) },
		"join":  func(names []string) string { return strings.Join(names, ", ") },
		"interval": func(r rate) string {
			return number(r.Per30Days, 1, "%.2f") + " [" + number(r.Per30DaysLow, 1, "%.2f") + "–" + number(r.Per30DaysHigh, 1, "%.2f") + "]"
		},
		"times": func(v *float64) string { return number(v, 1, "%.2f") },
	}).Parse(scoreTables)
	if err != nil {
		return fmt.Errorf("parsing the template of the tables: %w", err)
	}
	return t.Execute(w, r)
}

// found returns two table cells: of how many incidents a page came in time, and of how many a
// page or a ticket.
func found(faults []FaultScore) string {
	all, paged, either := 0, 0, 0
	for _, f := range faults {
		all, paged, either = all+f.Incidents, paged+f.Found, either+f.FoundEither
	}
	return fmt.Sprintf("%d of %d | %d of %d", paged, all, either, all)
}

// scores returns the scores of a model over all targets: of single alerts if ofAlerts is set,
// of whole rule sets otherwise.
func (r Report) scores(model string, ofAlerts bool) []Score {
	return slices.DeleteFunc(slices.Clone(r.Scores), func(s Score) bool {
		return s.Model != model || s.Target != "" || (s.Alert != "") != ofAlerts
	})
}

// Models lists the models in the order of the scores.
func (r Report) Models() []string {
	var names []string
	for _, s := range r.Scores {
		if len(names) == 0 || names[len(names)-1] != s.Model {
			names = append(names, s.Model)
		}
	}
	return names
}

// number formats a figure in a unit, or a dash if it is unknown.
func number(v *float64, unit float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v/unit)
}

func optionalDuration(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return duration(*seconds)
}

func percent(v *float64) string { return number(v, 0.01, "%.0f %%") }
