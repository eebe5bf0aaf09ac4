package figures

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/internal/study/runfile"
)

// Read reads a run of this program, the JSON of a report, or a report in
// Markdown with its tables and its JSON block. Errors name the file, the place
// and the remedy.
func Read(path string) (*Study, error) {
	file := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, "run.json")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	s := &Study{}
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		err = errors.New("the file is empty: the sweep or report that wrote it did not get as far; make it again")
	case text[0] != '{':
		s, err = parseMarkdown(string(data))
	case isReference(text):
		s, err = parseReference(data)
	default:
		var run *runfile.Run
		if run, err = runfile.Parse(data); err == nil {
			s = FromRuns([]*runfile.Run{run})
			s.Run = run
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s.File = path
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if s.Name == "run" {
		s.Name = filepath.Base(filepath.Dir(path))
	}
	return s, nil
}
