package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// openFolder reads the files of a folder as one trace. Files whose names begin with a dot do not count.
func openFolder(path string, o Options) (*Reader, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, parser: newParser(o), closeFile: func() {}}
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			f.names = append(f.names, e.Name())
		}
	}
	r := &Reader{name: path, opts: o, source: f.parser.sessions.collect(f.read), sessions: newRecent()}
	r.close = func() { f.closeFile() }
	return r, nil
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
