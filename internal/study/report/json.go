package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"synthetic/internal/study/figures"
)

// data returns the data of a report with what the report concludes from it.
func data(s *figures.Study) (*figures.Data, error) {
	d, err := s.Data(func(l figures.Level) string {
		if len(s.Objectives) == 0 {
			return ""
		}
		return matrixWords(s.Objectives, l)
	})
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
	return d, nil
}

// JSON returns the data of a report (see docs/report.schema.json). Reading it gives the same
// report again.
func JSON(s *figures.Study) ([]byte, error) {
	d, err := data(s)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	return append(text, '\n'), nil
}

// compactJSON returns the same data with a level per line.
func compactJSON(s *figures.Study) (string, error) {
	d, err := data(s)
	if err != nil {
		return "", err
	}
	var levels []string
	for _, l := range d.Levels {
		levels = append(levels, "  "+string(l))
	}
	d.Levels = nil
	head, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("encoding a report's data: %w", err)
	}
	text, _ := strings.CutSuffix(string(head), "null}") // of the levels, which are last
	return text + "[\n" + strings.Join(levels, ",\n") + "\n]}\n", nil
}
