package main

import (
	"context"
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
)

func addCheck(app *kingpin.Application) command {
	check := app.Command("check", "Check files before they are used.")
	c := check.Command("config", "Check a configuration file: every mistake with its place and what to write instead. Exit code 2 if there is any.")
	file := c.Arg("file", "The configuration file.").Required().String()
	return command{c, func(_ context.Context, e env) error {
		cfg, err := config.Load(*file)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: ok (%d targets, %d traffic jobs, %d SLOs)\n", *file, len(cfg.Targets), len(cfg.Jobs), len(cfg.SLOs))
		return nil
	}}
}
