package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/internal/study/runs"
)

// Read reads a study: a run of this program, the data of a report, also as the JSON block of a
// text. Errors name the file, the place and the remedy.
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
	case err != nil:
		return nil, fmt.Errorf("reading a run: %w; name the run.json of a sweep, or its directory", err)
	case len(text) == 0:
		err = errors.New("the file is empty: the sweep or report that wrote it did not finish; run it again")
	case text[0] == '{':
		s, err = parserOf(text)(text)
	default:
		_, block, found := bytes.Cut(text, []byte("```json\n"))
		block, _, closed := bytes.Cut(block, []byte("\n```"))
		switch {
		case !found:
			err = fmt.Errorf("neither a run.json, nor a report's data in JSON: give the run.json of the sweep, or the %s beside its report", DataFile)
		case !closed:
			err = errors.New("the JSON block is not closed: the report was written only in part; make it again")
		default:
			s, err = parseData(block)
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

// parserOf returns the parser for a file, which its keys tell; parseRun for broken JSON.
func parserOf(text []byte) func([]byte) (*Study, error) {
	var keys fields
	if json.Unmarshal(text, &keys) == nil && keys["format"] == nil && keys["levels"] != nil {
		return parseData
	}
	return parseRun
}

func parseRun(data []byte) (*Study, error) {
	run, err := runs.Parse(data)
	if err != nil {
		return nil, err
	}
	s := FromRuns([]*runs.Run{run})
	s.Run = run
	return s, nil
}
