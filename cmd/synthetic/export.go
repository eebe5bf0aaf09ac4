package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

type exportFlags struct {
	turns, format, file string
}

func exportCommand(parent *kingpin.CmdClause) command {
	f := &exportFlags{}
	c := parent.Command("export", `Write every turn of a sweep in the format of other tools. Example:
  synthetic report export results --format=aiperf --output.file=profile_export.jsonl`)
	c.Arg("turns", `Directory of a sweep, its turns.jsonl.zst, or a log that "synthetic run --turns.file" wrote.`).Required().StringVar(&f.turns)
	c.Flag("format", "csv: a row for each turn. aiperf: AIPerf's profile_export.jsonl. guidellm: GuideLLM's benchmarks.json, which also has the statistics of each level.").Default("csv").EnumVar(&f.format, runfile.ExportFormats()...)
	c.Flag("output.file", "File to write. Default: standard output.").PlaceHolder("FILE").StringVar(&f.file)
	return command{c, f.run}
}

func (f *exportFlags) run(_ context.Context, e env) error {
	path := f.turns
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, runfile.TurnsFile)
	}
	from, err := os.Open(path)
	if err != nil {
		return usagef("%w; a sweep writes this file when it ends", err)
	}
	defer from.Close()
	r, err := turnlog.NewReader(path, from)
	if err != nil {
		return usageError{err}
	}
	defer r.Close()
	next := func() (*turnlog.Turn, error) {
		t, err := r.NextLine()
		if err != nil && !errors.Is(err, io.EOF) {
			err = usageError{err}
		}
		return t, err
	}
	if f.file == "" {
		return runfile.WriteExport(e.stdout, f.format, next)
	}
	return f.write(next)
}

// write writes the file, which gets its name only when it is complete.
func (f *exportFlags) write(next turnlog.Next) error {
	if info, err := os.Stat(f.file); err == nil && !info.Mode().IsRegular() {
		return usagef("--output.file=%s is not a file: leave it out to write to standard output", f.file)
	}
	to, err := os.CreateTemp(filepath.Dir(f.file), filepath.Base(f.file)+".*.tmp")
	if err != nil {
		return usagef("--output.file: %w", err)
	}
	defer os.Remove(to.Name()) // does nothing after the rename
	if err := errors.Join(runfile.WriteExport(to, f.format, next), to.Chmod(0o644), to.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", f.file, err)
	}
	return os.Rename(to.Name(), f.file)
}
