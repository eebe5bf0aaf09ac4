// Command calibrate compares the simulated deployments, level by level, with the benchmark
// reports that they were fitted to. It is run in the root of the repository. It writes the
// tables of docs/background/simulation.md, and all figures into its testdata directory.
package main

import (
	"fmt"
	"os"
)

func main() {
	runs, err := play()
	if err == nil {
		err = write(".", runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}
