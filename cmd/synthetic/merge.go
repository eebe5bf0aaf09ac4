package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/study/sweep"
)

type mergeFlags struct {
	dirs []string
	dir  string
}

func mergeCommand(parent *kingpin.CmdClause) command {
	f := &mergeFlags{}
	c := parent.Command("merge", `Join the shards of one sweep.

It writes the run.json, turns.jsonl.zst and report/ that one process would have
written. Counts add up, quantiles are computed from all turns, and SLOs and
capacities are judged again. Times are converted to the clock of shard 0; the
report shows the correction and its uncertainty. A level that a shard did not
finish counts as not reached. Name every shard once. To combine repetitions of a
sweep, use "synthetic report average". Example:
  synthetic report merge shard-0 shard-1 shard-2 --output.dir=whole`)
	c.Arg("dir", `Directories that "synthetic sweep --shards=N --shard=I" wrote, in any order.`).Required().StringsVar(&f.dirs)
	c.Flag("output.dir", "Directory for the result; new or empty.").PlaceHolder("DIR").Required().StringVar(&f.dir)
	return command{c, f.run}
}

func (f *mergeFlags) run(_ context.Context, e env) error {
	run, err := sweep.MergeDirectories(f.dirs, f.dir)
	if err != nil {
		return usageError{err}
	}
	for _, c := range run.Capacities {
		fmt.Fprintln(e.stdout, capacityLine(c, run.LevelKind))
	}
	for _, r := range run.Results {
		if why := run.NotReached(r); why != "" {
			fmt.Fprintf(e.stdout, "%s, level %g, repetition %d: not reached: %s\n", r.Variant, r.Level, r.Repetition, why)
		}
	}
	fmt.Fprintf(e.stdout, "%s of %s in %s\n", count(len(run.Results), "level"), count(len(run.Shards), "shard"), filepath.Join(f.dir, "run.json"))
	writeReport(e, f.dir, run)
	return nil
}
