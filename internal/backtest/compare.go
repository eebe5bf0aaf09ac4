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

// Comparisons are rule files as others write them, over the same names: what sloth
// generates for Objectives, and the p95 against last week's.
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

// Objectives are the SLOs of most simulated deployments: those that rules are
// generated from.
func Objectives() []slo.Objective { return objectives(time.Second) }

// objectives are those of a deployment that is to give first tokens within a time.
func objectives(ttft time.Duration) []slo.Objective {
	const month = 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: ttft, Objective: 0.99, Window: month},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: month},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month},
	}
}
