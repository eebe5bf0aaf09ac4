package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"synthetic/internal/atomicfile"
)

type File struct {
	Name string
	Data []byte
}

// Files returns a study in every format: report.md, report.html, report.json and the
// pictures of the Markdown.
func Files(s *Study) ([]File, error) {
	d, err := buildDocument(s)
	if err != nil {
		return nil, err
	}
	markdown, markdownErr := d.markdown()
	page, pageErr := d.html()
	figures, dataErr := jsonFile(s)
	if err := errors.Join(markdownErr, pageErr, dataErr); err != nil {
		return nil, err
	}
	files := []File{{"report.md", markdown}, {"report.html", page}, {dataFile, figures}}
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
