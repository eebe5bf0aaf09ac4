package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
)

// count is n of something, in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func addCheck(app *kingpin.Application) command {
	check := app.Command("check", "Check files before they are used.")
	c := check.Command("config", "Check a configuration file: every mistake with its place and what to write instead. Exit code 2 if there is any.")
	file := c.Arg("file", "The configuration file.").Required().String()
	return command{c, func(_ context.Context, e env) error {
		if *file == "" {
			return usagef("name the configuration file; /dev/stdin reads standard input")
		}
		cfg, err := config.Load(*file)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: ok (%s, %s, %s)\n", *file, count(len(cfg.Targets), "target"), count(len(cfg.Jobs), "traffic job"), count(len(cfg.SLOs), "SLO"))
		return nil
	}}
}
