package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Load reads and validates a configuration file. Paths in it are relative to
// its directory. An error is of type Errors and holds every mistake.
func Load(path string) (*Config, error) {
	data, err := readLimited(path)
	if err != nil {
		return nil, Errors{{File: path, Message: "cannot be read (" + reasonOf(err) + ")", Remedy: "name a readable YAML file"}}
	}
	return Parse(path, data, filepath.Dir(path))
}

// Parse validates the text of a configuration. name stands for it in messages,
// dir is what paths in it are relative to. An error is of type Errors and
// holds every mistake. The files that the text names must exist; those of keys
// are not read.
func Parse(name string, data []byte, dir string) (*Config, error) {
	root, problems := document(name, data)
	if problems != nil {
		return nil, problems
	}
	d := &decoder{name: name, places: map[string]*yaml.Node{"": root}, wrong: map[string]bool{}}
	var f file
	d.structure(root, "", reflect.ValueOf(&f).Elem())
	cfg := (&builder{decoder: d, dir: dir}).build(f)
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	sum := sha256.Sum256(data)
	cfg.Hash = hex.EncodeToString(sum[:])
	return cfg, nil
}

// readLimited reads a file, but not much more than a configuration can have.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSize+1))
}

// reasonOf is an error of the file system without the path, which its message
// names already.
func reasonOf(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
