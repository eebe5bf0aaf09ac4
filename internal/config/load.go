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
	var f file
	d, problems := decode(name, data, leastFile, &f)
	if problems != nil {
		return nil, problems
	}
	cfg := (&builder{decoder: d, dir: dir}).build(f)
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	sum := sha256.Sum256(data)
	cfg.Hash = hex.EncodeToString(sum[:])
	return cfg, nil
}

// decode fills the struct that f points to from the text of a file, and
// returns the decoder with the mistakes so far. What is not even YAML comes
// back as problems; least is the remedy of a file that holds nothing.
func decode(name string, data []byte, least string, f any) (*decoder, Errors) {
	root, problems := document(name, data, least)
	if problems != nil {
		return nil, problems
	}
	v := reflect.ValueOf(f).Elem()
	d := &decoder{name: name, shape: v.Type(), places: map[string]*yaml.Node{"": root}, wrong: map[string]bool{}}
	d.structure(root, "", v)
	return d, nil
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
