package report

import (
	"fmt"
	"os"
	"path/filepath"

	"synthetic/internal/atomicfile"
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
