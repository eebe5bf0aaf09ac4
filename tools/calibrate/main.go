// Command calibrate runs the plans of plans/ against the simulated deployments and compares every
// level with the published report. It is run in the root of the repository. It writes the table of
// docs/background/simulation.md.
//
// It submits the requests of a plan to the simulated cluster directly. Without HTTP and prober, six
// seeds of all plans take a minute of CPU time; with them, one seed takes about ten minutes. A test compares both.
package main

import (
	"fmt"
	"os"

	"synthetic/tools/measured"
)

// page is the file that this command writes, relative to the root of the repository.
const page = "docs/background/simulation.md"

// summaryPart marks the generated part of the page.
const summaryPart = "calibrate summary"

func main() {
	runs, err := play("./")
	if err == nil {
		err = measured.Replace(page, summaryPart, summary(runs))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}
