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
	run, s, err := ReadEither(path)
	if err != nil || s != nil {
		return s, err
	}
	return label(FromRuns([]*runfile.Run{run}), path), nil
}

// ReadEither returns a run if the file is one, and a study if it is a report.
func ReadEither(path string) (*runfile.Run, *Study, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "run.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading a run: %w", err)
	}
	var run *runfile.Run
	var s *Study
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		err = errors.New("the file is empty: the sweep or report that wrote it did not get as far; make it again")
	case text[0] != '{':
		s, err = parseMarkdown(string(data))
	case isReference(text):
		s, err = parseReference(data)
	default:
		run, err = runfile.Parse(data)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if s != nil {
		label(s, path)
	}
	return run, s, nil
}

func label(s *Study, path string) *Study {
	s.File = path
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if s.Name == "run" {
		s.Name = filepath.Base(filepath.Dir(path))
	}
	return s
}
