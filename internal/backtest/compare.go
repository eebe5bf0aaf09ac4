package backtest

import (
	"embed"
	"fmt"
	"strings"
	"time"

	"synthetic/internal/slo"
)

//go:embed compare/*.yml
var compared embed.FS

// Comparisons returns rule files to compare with, over the same metrics: the rules
// that sloth generates for Objectives, and an alert on the p95 against last week's.
func Comparisons(o RuleOptions) ([]RuleFile, error) {
	entries, err := compared.ReadDir("compare")
	if err != nil {
		return nil, fmt.Errorf("reading the rules for comparison: %w", err)
	}
	var files []RuleFile
	for _, e := range entries {
		text, err := compared.ReadFile("compare/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the rules for comparison: %w", err)
		}
		files = append(files, RuleFile{strings.TrimSuffix(e.Name(), ".yml"), text, o})
	}
	return files, nil
}

// Objectives returns the SLOs that are used without a configuration.
func Objectives() []slo.Objective {
	const month = 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: month},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: month},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month},
	}
}
