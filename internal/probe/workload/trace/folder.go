package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// traceFile matches the names of the files of a folder that are read.
var traceFile = regexp.MustCompile(`^[^.].*\.(json|jsonl|csv)(\.(gz|zst))?$`)

// openFolder reads the files of a folder as one trace.
func openFolder(path string, o Options) (*Reader, error) {
	names, err := FolderFiles(path)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, names: names, parser: newParser(o), closeFile: func() {}}
	r := &Reader{name: path, opts: o, source: f.parser.sessions.collect(f.read), sessions: newRecent()}
	r.close = func() { f.closeFile() }
	return r, nil
}

// FolderFiles returns the names of the JSON, JSON Lines and CSV files of a folder in their order, plain or
// compressed. Links count as their targets. It is an error if there are none.
func FolderFiles(path string) (names []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !traceFile.MatchString(e.Name()) {
			continue
		}
		info, err := os.Stat(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no file of the folder is named *.json, *.jsonl or *.csv, or so with .gz or .zst; rename the files of the trace", path)
	}
	return names, nil
}

// folder reads one file after the other.
type folder struct {
	path      string
	names     []string // the open file and those after it
	parser    *parser
	source    source // of the open file, nil without one
	closeFile func()
}

func (f *folder) read() ([]Record, error) {
	for len(f.names) > 0 {
		if f.source == nil {
			if err := f.open(); err != nil {
				return nil, fmt.Errorf("%s: %w", f.names[0], err)
			}
		}
		records, err := f.source()
		if err == nil {
			return records, nil
		}
		if err != io.EOF {
			return nil, fmt.Errorf("%s, %w", f.names[0], err)
		}
		f.closeFile()
		f.source, f.closeFile, f.names = nil, func() {}, f.names[1:]
	}
	return nil, io.EOF
}

func (f *folder) open() error {
	file, err := os.Open(filepath.Join(f.path, f.names[0]))
	if err != nil {
		return err
	}
	plain, closePlain, err := Decompress(file)
	if err != nil {
		_ = file.Close() // nothing was written to it
		return err
	}
	f.closeFile = func() {
		closePlain()
		_ = file.Close()
	}
	f.source, err = newSource(plain, f.parser)
	return err
}
