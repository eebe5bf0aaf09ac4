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

// count returns "1 target", "2 targets" and so on.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func addCheck(app *kingpin.Application) []command {
	check := app.Command("check", "Check files before they are used.")
	c := check.Command("config", `Check a configuration file.

It prints every mistake with its line and what to write instead, and exits with
code 2. Without mistakes it prints the tokens that the traffic uses in a day.`)
	file := c.Arg("file", "The configuration file.").Required().String()
	keys := c.Flag("keys", "Fail if an environment variable that api_key_env names is not set, as \"run\" does. Use --no-keys on a machine without the keys.").Default("true").Bool()
	discover := c.Flag("discover", "Run the discovery for this long and print the targets that it finds. Nothing is sent to the targets.").PlaceHolder("10s").Duration()
	p := check.Command("plan", "Check the plan file of a sweep. Nothing is sent to its endpoints.")
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
			return usagef("name the configuration file; use /dev/stdin for standard input")
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

// showDiscovered runs the discovery for some time and prints the targets. The log names
// targets that are left out. It returns an error if the discovery of a group fails.
func showDiscovered(ctx context.Context, e env, cfg *config.Config, patience time.Duration) error {
	f := discovery.New(e.logger, nil)
	f.Follow(cfg.Discovery)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := f.Run(ctx, func() error { return nil }); err != nil {
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

// contents counts the parts of a configuration. Rare parts are listed only if there are any.
func contents(cfg *config.Config) []string {
	out := []string{count(len(cfg.Targets), "target"), count(len(cfg.Jobs), "traffic job"), count(len(cfg.SLOs), "SLO")}
	for _, j := range cfg.Jobs {
		if j.Benchmark != nil {
			out = append(out, fmt.Sprintf("workload %s to target %s compared with %s", j.Workload.Name, j.Target.Name, j.Benchmark.Source()))
		}
	}
	if n := len(cfg.Changes); n > 0 {
		out = append(out, count(n, "change window"))
	}
	return append(out, timeZones(cfg))
}
