package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"synthetic/internal/atomicfile"
)

type File struct {
	Name string
	Data []byte
}

// Files returns a study in every format: report.md, report.html, report.json, report.csv and
// the pictures of the Markdown.
func Files(s *Study) ([]File, error) {
	d, err := buildDocument(s)
	if err != nil {
		return nil, err
	}
	markdown, markdownErr := d.markdown()
	page, pageErr := d.html()
	figures, dataErr := jsonFile(s)
	rows, rowsErr := csvFile(s)
	if err := errors.Join(markdownErr, pageErr, dataErr, rowsErr); err != nil {
		return nil, err
	}
	files := []File{{"report.md", markdown}, {"report.html", page}, {dataFile, figures}, {"report.csv", rows}}
	for _, p := range d.pictures() {
		files = append(files, File{p.File, p.Chart.SVG()})
	}
	return files, nil
}

// Terminal returns the level tables and the verdict of a report for a terminal.
func Terminal(s *Study) (string, error) {
	d, err := buildDocument(s)
	if err != nil {
		return "", err
	}
	return d.terminal(), nil
}

// Write writes files to a directory, which it creates if needed. Each file is replaced atomically.
func Write(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w; choose another --output.dir", err)
	}
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// csvFile returns a row per level and series, with columns for the value and the interval of each
// figure. Unknown values are empty.
func csvFile(s *Study) ([]byte, error) {
	header := []string{s.LevelName(), "variant", "runs", "valid_runs", "slo"}
	var metrics []Metric
	for _, m := range Metrics() {
		if s.Has(m) {
			metrics = append(metrics, m)
			header = append(header, m.Key(), m.Key()+"_low", m.Key()+"_high")
		}
	}
	rows := [][]string{header}
	for _, series := range s.Series {
		for _, l := range series.Levels {
			row := []string{formatLevel(l.At), series.Name, "", "", matrixWords(s.Objectives, l)}
			if l.Runs > 0 {
				row[2], row[3] = strconv.Itoa(l.Runs), strconv.Itoa(l.Valid)
			}
			for _, m := range metrics {
				f := l.Figure(m)
				row = append(row, formatNumber(f.Value), formatNumber(f.Low), formatNumber(f.High))
			}
			rows = append(rows, row)
		}
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.Bytes(), err
}

func formatNumber(v float64) string {
	if Finite(v) == nil {
		return ""
	}
	return formatLevel(v)
}
