package runfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Encode returns the run as indented JSON with a last newline.
func Encode(r *Run) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	return b.Bytes(), nil
}

// Write writes the run to path: see WriteFile.
func Write(path string, r *Run) error {
	data, err := Encode(r)
	if err != nil {
		return err
	}
	return WriteFile(path, data)
}

// WriteFile writes a file that is either the old one or the new one, whole and
// on disk, whatever happens in between: the data goes to a file beside it, is
// synced, takes the name in one step, and the directory is synced too.
func WriteFile(path string, data []byte) error {
	if err := replace(path, data); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

func replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".synthetic-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once renamed, which is as it should be
	if err := fill(tmp, data); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// fill writes, syncs and closes the file.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// syncDir makes the new name last: without it a crash may bring the old file
// back.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
