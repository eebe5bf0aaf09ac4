package figures

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"synthetic/internal/study/runfile"
)

// Read reads a study: a run of this program, a report as JSON or Markdown, results of GuideLLM,
// one or more AIPerf runs in a directory, or a turn log. Errors name the file, the place and
// the remedy.
func Read(path string) (*Study, error) {
	file := path
	info, err := os.Stat(path)
	dir := err == nil && info.IsDir()
	if dir {
		file = filepath.Join(path, "run.json")
	}
	data, err := os.ReadFile(file)
	s := &Study{}
	switch text := bytes.TrimSpace(data); {
	case dir && errors.Is(err, fs.ErrNotExist):
		missing := err
		if s, err = readAIPerfRuns(path); s == nil && err == nil {
			err = missing
		}
	case err != nil:
		return nil, fmt.Errorf("reading a run: %w", err)
	case len(text) == 0:
		err = errors.New("the file is empty: the sweep or report that wrote it did not finish; run it again")
	case isTurnLog(text):
		s, err = parseTurnLog(file, data)
	case text[0] != '{':
		s, err = readMarkdown(file, string(data))
	default:
		s, err = parserOf(text)(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	turns := filepath.Join(filepath.Dir(file), runfile.TurnsFile)
	if _, err := os.Stat(turns); err == nil && s.Run != nil && s.Turns == "" {
		s.Turns = turns
	}
	s.File = path
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if s.Name == "run" {
		s.Name = filepath.Base(filepath.Dir(path))
	}
	return s, nil
}

// readMarkdown reads a report in Markdown. A page of this program has only a part of the figures,
// so the data beside it is read.
func readMarkdown(file, text string) (*Study, error) {
	if !strings.Contains(text, DataNote) {
		return parseMarkdown(text)
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(file), DataFile))
	if err != nil {
		return nil, fmt.Errorf("this page has only a part of the figures, and %s is not beside it: read the run, or a report that was written with --full", DataFile)
	}
	return parseData(data)
}

func parseRun(data []byte) (*Study, error) {
	run, err := runfile.Parse(data)
	if err != nil {
		return nil, err
	}
	s := FromRuns([]*runfile.Run{run})
	s.Run = run
	return s, nil
}
