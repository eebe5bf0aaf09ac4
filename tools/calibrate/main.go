// Command calibrate lays the simulated deployments beside the benchmarks of
// the real ones, level by level.
//
// Without flags it prints the tables of docs/background/simulation.md and of
// simulation-fit.md beside it; with -doc it also writes them there, and every
// figure into the CSV file beside them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

// seedsOfDoc is how many runs the document's figures are averaged over.
const seedsOfDoc = 3

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	doc := flags.String("doc", "", "bring the tables of this Markdown `file` up to date, and the files beside it")
	seeds := flags.Int("seeds", seedsOfDoc, "how many runs are averaged")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runs, err := play(*seeds)
	if err != nil {
		return err
	}
	for _, s := range sections() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n", s.name, s.render(runs))
	}
	if *doc == "" {
		return nil
	}
	return write(*doc, runs)
}
