package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/simulate/cluster"
)

// count is n of something, in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func addCheck(app *kingpin.Application) []command {
	check := app.Command("check", "Check files before they are used.")
	c := check.Command("config", "Check a configuration file: every mistake with its place and what to write instead, or what its traffic spends in a day. Exit code 2 if there is any mistake.")
	file := c.Arg("file", "The configuration file.").Required().String()
	keys := c.Flag("keys", "Fail where an environment variable that api_key_env names is not set, as \"run\" does; --no-keys is for a machine that lacks them.").Default("true").Bool()
	discover := c.Flag("discover", "Look for so long what the configuration discovers, and show it; nothing is sent to what is found.").PlaceHolder("10s").Duration()
	p := check.Command("plan", "Check the plan of a sweep likewise. Nothing is sent.")
	planFile := p.Arg("file", "The plan file.").Required().String()
	return []command{{p, func(_ context.Context, e env) error {
		plan, err := config.LoadPlan(*planFile, cluster.Presets())
		if err != nil {
			return err
		}
		cells := len(plan.Cells())
		fmt.Fprintf(e.stdout, "%s: ok (%s, %s, %s, %s to measure)\n", *planFile, count(len(plan.Variants), "variant"),
			count(len(plan.Levels), "level"), count(len(plan.SLOs), "SLO"), count(cells, "cell"))
		return nil
	}}, {c, func(ctx context.Context, e env) error {
		if *file == "" {
			return usagef("name the configuration file; /dev/stdin reads standard input")
		}
		load := config.Load
		if *keys {
			load = config.LoadToRun
		}
		cfg, err := load(*file)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: ok (%s)\n", *file, strings.Join(contents(cfg), ", "))
		for _, line := range spending(cfg) {
			fmt.Fprintf(e.stdout, "%s: %s\n", *file, line)
		}
		for _, caution := range sidecar.Cautions(cfg) {
			fmt.Fprintf(e.stdout, "%s: note: %s\n", *file, caution)
		}
		if *discover > 0 {
			return showDiscovered(ctx, e, cfg, *discover)
		}
		return nil
	}}}
}

// showDiscovered looks for some time, and writes what is found; the log says what is
// left out, and why a discovery fails. It is an error if one does.
func showDiscovered(ctx context.Context, e env, cfg *config.Config, patience time.Duration) error {
	f := discovery.New(discovery.Options{Logger: e.logger, Changed: func() error { return nil }})
	f.Follow(cfg.Discovery)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := f.Run(ctx); err != nil {
		return err
	}
	found, failing := f.Found(cfg.Discovery), 0
	for _, s := range f.Standings() {
		for _, t := range found[s.Name] {
			fmt.Fprintf(e.stdout, "%s/%s\t%s\n", s.Name, t.Name, t.BaseURL)
		}
		switch {
		case s.Leased:
			continue
		case s.Failing != "" || s.At.IsZero():
			failing++
			fmt.Fprintf(e.stdout, "%s: %s\n", s.Name, cmp.Or(s.Failing, "did not answer in "+patience.String()))
		default:
			fmt.Fprintf(e.stdout, "%s: %s\n", s.Name, count(s.Found, "target"))
		}
	}
	if failing > 0 {
		return fmt.Errorf("%s could not be discovered", count(failing, "group"))
	}
	return nil
}

// contents counts what a configuration holds; what few have is named only where
// it is there.
func contents(cfg *config.Config) []string {
	out := []string{count(len(cfg.Targets), "target"), count(len(cfg.Jobs), "traffic job"), count(len(cfg.SLOs), "SLO")}
	for _, j := range cfg.Jobs {
		if j.Benchmark != nil {
			out = append(out, fmt.Sprintf("%s to %s compared with %s", j.Workload.Name, j.Target.Name, j.Benchmark.Source()))
		}
	}
	if n := len(cfg.Changes); n > 0 {
		out = append(out, count(n, "change window"))
	}
	return out
}
