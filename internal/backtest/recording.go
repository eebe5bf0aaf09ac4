package backtest

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"time"
)

// ScoreRecording scores rule files on recorded series between two times. A
// recording without incidents counts as healthy: every page on it is false.
func ScoreRecording(ctx context.Context, src Source, files []RuleFile, incidents []Incident, from, to time.Time) ([]Score, error) {
	sets, err := loadAll(files)
	if err != nil {
		return nil, err
	}
	spans, err := Run(ctx, src, sets, from, to)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range incidents {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	run := outcome{days: to.Sub(from).Hours() / 24, spans: spans, incidents: incidents}
	return scoreSets("recorded", sets, names, []outcome{run}), nil
}

// ReadIncidents reads labelled incidents: lines of name, start and end, the
// times as RFC 3339.
func ReadIncidents(r io.Reader) ([]Incident, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.Comment, c.TrimLeadingSpace = 3, '#', true
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the incidents: %w; each line is name,start,end", err)
	}
	var out []Incident
	for i, row := range rows {
		from, err := time.Parse(time.RFC3339, row[1])
		if err != nil {
			return nil, fmt.Errorf("incident %d (%q): its start: %w", i+1, row[0], err)
		}
		to, err := time.Parse(time.RFC3339, row[2])
		if err != nil {
			return nil, fmt.Errorf("incident %d (%q): its end: %w", i+1, row[0], err)
		}
		if !to.After(from) {
			return nil, fmt.Errorf("incident %d (%q): it ends at %s, before it starts", i+1, row[0], row[2])
		}
		out = append(out, Incident{Name: row[0], From: from, To: to, Within: to.Sub(from)})
	}
	return out, nil
}
