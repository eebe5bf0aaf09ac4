package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
)

type mergeFlags struct {
	runs []string
	dir  string
}

func mergeCommand(parent *kingpin.CmdClause) command {
	f := &mergeFlags{}
	c := parent.Command("merge", `Pool repeated runs of a sweep, or add up the parts of one that several machines have run (shards), and report the
result. Example:
  synthetic report merge results/shard-* --output.dir=results/all`)
	c.Arg("run", `The run.json of each "synthetic sweep", or its directory.`).Required().StringsVar(&f.runs)
	c.Flag("output.dir", "Directory for run.json and report/; it is created if it does not exist.").Required().StringVar(&f.dir)
	return command{c, f.run}
}

func (f *mergeFlags) run(_ context.Context, e env) error {
	var all []*runs.Run
	for _, path := range f.runs {
		s, err := report.Read(path)
		if err != nil {
			return usageError{err}
		}
		if s.Run == nil {
			return usagef("%s is a report, which cannot be merged: give the run.json of a sweep", path)
		}
		if f.overwrites(path) {
			return usagef("--output.dir=%s would overwrite %s, one of the runs to merge: name another directory", f.dir, path)
		}
		all = append(all, s.Run)
	}
	run, err := runs.Merge(all)
	if err != nil {
		return usageError{err}
	}
	runs.Rejudge(run)
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return fmt.Errorf("making --output.dir: %w", err)
	}
	file := filepath.Join(f.dir, "run.json")
	if err := runs.Write(file, run); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s of %s in %s\n", count(len(run.Results), "level"), count(len(all), "run"), file)
	for _, r := range run.Results {
		if r.MissingShards != nil {
			fmt.Fprintf(e.stdout, "%s, %s, repetition %d: lacks shards %v, so it is not judged\n", r.Variant, run.LevelKind.At(r.Level), r.Repetition, r.MissingShards)
		}
	}
	if run.Interrupted != "" {
		fmt.Fprintf(e.stdout, "The sweep did not finish: %s\n", run.Interrupted)
	}
	writeReport(e, f.dir, run)
	return nil
}

// overwrites reports whether the run in path is the run.json of --output.dir, which the merged run would replace.
func (f *mergeFlags) overwrites(path string) bool {
	out, err := os.Stat(filepath.Join(f.dir, "run.json"))
	if err != nil {
		return false
	}
	for _, file := range []string{path, filepath.Join(path, "run.json")} {
		if in, err := os.Stat(file); err == nil && os.SameFile(in, out) {
			return true
		}
	}
	return false
}
