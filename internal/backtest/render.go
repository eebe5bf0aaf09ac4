package backtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Report is what a backtest gives.
type Report struct {
	// Settings say in words how it was made, one line each.
	Settings []string `json:"settings"`
	Scores   []Score  `json:"scores"`
}

// WriteJSON writes the report with every figure.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("writing the scores as JSON: %w", err)
	}
	return nil
}

// WriteMarkdown writes the tables: the sets side by side, then the alerts of
// each set.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for _, s := range r.Settings {
		b.WriteString("- " + s + "\n")
	}
	for _, model := range r.Models() {
		fmt.Fprintf(&b, "\n### %s\n\n", model)
		r.overview(&b, model)
		for _, s := range r.Scores {
			if s.Model == model && s.Alert == "" && len(s.Faults) > 0 {
				fmt.Fprintf(&b, "\n**%s**\n\n", s.Rules)
				faultTable(&b, s)
			}
		}
		b.WriteString("\nBy alert:\n\n")
		r.byAlert(&b, model)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Models lists the noise models in the order of the scores.
func (r Report) Models() []string {
	var names []string
	for _, s := range r.Scores {
		if len(names) == 0 || names[len(names)-1] != s.Model {
			names = append(names, s.Model)
		}
	}
	return names
}

// overview compares the rule sets as pagers.
func (r Report) overview(b *strings.Builder, model string) {
	b.WriteString("| Rules | False pages per 30 days | Precision among faults |\n|---|---|---|\n")
	for _, s := range r.Scores {
		if s.Model == model && s.Alert == "" {
			fmt.Fprintf(b, "| %s | %s (%d in %.0f days) | %s |\n", s.Rules, number(s.FalsePer30Days, 1, "%.2f"), s.HealthyPages, s.HealthyDays, percent(s.Precision))
		}
	}
}

func faultTable(b *strings.Builder, s Score) {
	b.WriteString("| Fault | Injected | Recall | To page, median | p90 | To resolve, median | p90 | Pages per incident |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range s.Faults {
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", f.Fault, f.Incidents, percent(&f.Recall),
			minutes(f.MedianToPage), minutes(f.P90ToPage), minutes(f.MedianToResolve), minutes(f.P90ToResolve),
			number(f.PagesPerIncident, 1, "%.2f"))
	}
}

// byAlert shows what each alert finds alone.
func (r Report) byAlert(b *strings.Builder, model string) {
	var faults []string
	for _, s := range r.Scores {
		if s.Model == model && len(faults) == 0 {
			for _, f := range s.Faults {
				faults = append(faults, f.Fault)
			}
		}
	}
	fmt.Fprintf(b, "| Rules | Alert | False per 30 days | %s |\n|---|---|---|%s\n", strings.Join(faults, " | "), strings.Repeat("---|", len(faults)))
	for _, s := range r.Scores {
		if s.Model != model || s.Alert == "" {
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s |", s.Rules, s.Alert, number(s.FalsePer30Days, 1, "%.2f"))
		for _, f := range s.Faults {
			if f.Recall == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(b, " %s, %s |", percent(&f.Recall), minutes(f.MedianToPage))
		}
		b.WriteString("\n")
	}
}

// number writes a figure in a unit, or a dash where there is none.
func number(v *float64, unit float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v/unit)
}

func minutes(v *float64) string { return number(v, 60, "%.1f min") }
func percent(v *float64) string { return number(v, 0.01, "%.0f %%") }
