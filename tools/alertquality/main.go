// Command alertquality measures the alert rules on simulated deployments: which faults
// they find, how soon, and how many pages are false.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kingpin/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "alertquality:", err)
		os.Exit(1)
	}
}

// run parses args and runs one command.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	app := kingpin.New("alertquality", "Measures the alert rules on simulated deployments.")
	app.HelpFlag.Short('h')
	simulation := &simulationFlags{}
	runs := app.Command("run", "Simulate healthy and faulty deployments, and score rules on them.")
	simulation.add(runs)
	tables := app.Command("tables", "Write DIR/tables.md from the scores in DIR/worlds, DIR/compare and DIR/fleet*.")
	dir := tables.Arg("dir", "Directory of the scores.").Required().String()
	chosen, err := app.Parse(args)
	switch {
	case err != nil:
		return err
	case chosen == tables.FullCommand():
		return writeTables(*dir)
	}
	report, err := simulation.report(ctx, stderr)
	if err != nil {
		return err
	}
	if simulation.outputDir == "" {
		return report.WriteMarkdown(stdout)
	}
	files, err := report.Files()
	if err != nil {
		return err
	}
	err = os.MkdirAll(simulation.outputDir, 0o755)
	for _, f := range files {
		err = errors.Join(err, writeFile(simulation.outputDir, f.Name, f.Data))
	}
	return err
}
