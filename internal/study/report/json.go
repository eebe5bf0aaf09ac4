package report

import (
	"encoding/json"
	"fmt"

	"synthetic/internal/study/figures"
)

// JSON returns the data of a report (see docs/report.schema.json) with what the report concludes from it. Reading it
// gives the same report again.
func JSON(s *figures.Study) ([]byte, error) {
	d, err := s.Data(verdictOf(s))
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	for _, x := range scalesOf(s) {
		if d.HighestCompliant[x.Variant] = nil; x.Judged {
			level := x.level()
			d.HighestCompliant[x.Variant] = &level
		}
	}
	d.Warnings = append(d.Warnings, defects(s)...)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	return append(text, '\n'), nil
}

// verdictOf returns the verdict on a level in words, "" without SLOs.
func verdictOf(s *figures.Study) func(figures.Level) string {
	return func(l figures.Level) string {
		if len(s.Objectives) == 0 {
			return ""
		}
		return matrixWords(s.Objectives, l)
	}
}
