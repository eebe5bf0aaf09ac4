package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// CSV has a row per level and series, and three columns per figure: its value
// and the ends of its interval. What is unknown is empty.
func CSV(s *figures.Study) ([]byte, error) {
	var metrics []figures.Metric
	for _, m := range figures.Metrics() {
		if s.Has(m) {
			metrics = append(metrics, m)
		}
	}
	rows := [][]string{{s.LevelName(), "variant", "runs", "valid_runs", "slo"}}
	for _, m := range metrics {
		rows[0] = append(rows[0], m.Key(), m.Key()+"_low", m.Key()+"_high")
	}
	for _, series := range s.Series {
		for _, l := range series.Levels {
			row := []string{at(l.At), series.Name, count(l.Runs), count(l.Valid), analysis.Judge(s.Objectives, l).String()}
			for _, m := range metrics {
				f := l.Figure(m)
				if !f.Ranged() {
					f.Low, f.High = math.NaN(), math.NaN()
				}
				row = append(row, plain(l.Value(m)), plain(f.Low), plain(f.High))
			}
			rows = append(rows, row)
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
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
