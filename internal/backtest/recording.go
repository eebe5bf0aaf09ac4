package backtest

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"time"
)

// ScoreRecording scores rule sets on recorded series between two times. Without incidents the
// recording counts as healthy, and every page is false.
func ScoreRecording(ctx context.Context, src Source, sets []*RuleSet, incidents []Incident, from, to time.Time) ([]Score, error) {
	spans, err := Replay(ctx, src, sets, from, to)
	if err != nil {
		return nil, err
	}
	run := Outcome{Days: to.Sub(from).Hours() / 24, Spans: spans, Incidents: incidents}
	return ScoreSets("recorded", sets, incidentNames(incidents), []Outcome{run}), nil
}

// incidentNames returns the names in order of first appearance.
func incidentNames(incidents []Incident) []string {
	var names []string
	for _, i := range incidents {
		if !slices.Contains(names, i.Name) {
			names = append(names, i.Name)
		}
	}
	return names
}

// ReadIncidents reads CSV lines of name, start, end, and optionally target. The times are RFC
// 3339. A header line is skipped.
func ReadIncidents(r io.Reader) ([]Incident, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.Comment, c.TrimLeadingSpace = -1, '#', true
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the incidents: %w; each line is name,start,end or name,start,end,target", err)
	}
	if len(rows) > 0 && slices.Equal(rows[0][:min(3, len(rows[0]))], []string{"name", "start", "end"}) {
		rows = rows[1:]
	}
	var out []Incident
	for i, row := range rows {
		incident, err := incidentOf(row)
		if err != nil {
			return nil, fmt.Errorf("incident %d (%q): %w", i+1, row[0], err)
		}
		out = append(out, incident)
	}
	return out, nil
}

func incidentOf(row []string) (Incident, error) {
	var none Incident
	if len(row) != 3 && len(row) != 4 {
		return none, fmt.Errorf("it has %d fields; each line is name,start,end or name,start,end,target", len(row))
	}
	from, err := time.Parse(time.RFC3339, row[1])
	if err != nil {
		return none, fmt.Errorf("its start: %w", err)
	}
	to, err := time.Parse(time.RFC3339, row[2])
	if err != nil {
		return none, fmt.Errorf("its end: %w", err)
	}
	if !to.After(from) {
		return none, fmt.Errorf("it ends at %s, before it starts", row[2])
	}
	incident := Incident{Name: row[0], From: from, To: to, Within: to.Sub(from)}
	if len(row) == 4 {
		incident.Target = row[3]
	}
	return incident, nil
}
