package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// CSV has a row per level and series, and three columns per figure: its value
// and the ends of its interval. What is unknown is empty.
func CSV(s *figures.Study) ([]byte, error) {
	var metrics []figures.Metric
	for _, m := range figures.Metrics() {
		if s.Has(m.Key) {
			metrics = append(metrics, m)
		}
	}
	header := []string{s.LevelName(), "variant", "runs", "valid_runs", "slo"}
	for _, m := range metrics {
		header = append(header, m.Key, m.Key+"_low", m.Key+"_high")
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{header}
	for _, series := range s.Series {
		for _, l := range series.Levels {
			row := []string{at(l.At), series.Name, count(l.Runs), count(l.Valid), analysis.Judge(s.Objectives, l).String()}
			for _, m := range metrics {
				f := l.Figure(m.Key)
				row = append(row, plain(l.Value(m.Key)))
				if f.Ranged() {
					row = append(row, plain(f.Low), plain(f.High))
				} else {
					row = append(row, "", "")
				}
			}
			rows = append(rows, row)
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, fmt.Errorf("encoding CSV: %w", err)
	}
	return b.Bytes(), nil
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func plain(v float64) string {
	f := finite(v)
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}
