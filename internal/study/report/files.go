package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// File is one file of a report.
type File struct {
	Name string
	Data []byte
}

// Files writes a study down in every format: report.md, report.html,
// report.json, report.csv and the pictures of the Markdown.
func Files(s *figures.Study) ([]File, error) {
	d, err := Build(s)
	if err != nil {
		return nil, err
	}
	page, err := d.HTML()
	if err != nil {
		return nil, err
	}
	data, err := JSON(s)
	if err != nil {
		return nil, err
	}
	rows, err := CSV(s)
	if err != nil {
		return nil, err
	}
	files := []File{{"report.md", d.Markdown()}, {"report.html", page}, {"report.json", data}, {"report.csv", rows}}
	for _, section := range d.Sections {
		for _, b := range section.Blocks {
			if b.Picture != nil {
				files = append(files, File{b.Picture.File, b.Picture.SVG})
			}
		}
	}
	return files, nil
}

// Write writes the files to a directory, which it makes if need be. Each file
// is replaced as a whole or not at all.
func Write(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w", err)
	}
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

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
