// Command calibrate lays the simulated deployments beside the benchmarks of
// the real ones, level by level: it writes the tables of
// docs/background/simulation.md and of simulation-fit.md beside it, and every
// figure into the CSV file beside them.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	doc := flag.String("doc", "docs/background/simulation.md", "the document, a Markdown `file`; its fit and the figures lie beside it")
	flag.Parse()
	runs, err := play()
	if err == nil {
		err = write(*doc, runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}
