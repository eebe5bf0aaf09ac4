package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/sweep"
)

// count returns "1 target", "2 targets" and so on.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func addCheck(app *kingpin.Application) []command {
	parent := app.Command("check", `Check configuration files and plans of sweeps, or a running sidecar.

  synthetic check synthetic.yml   check a file; see synthetic check files --help
  synthetic check health          ask a running sidecar whether it probes`)
	c := parent.Command("files", `Check configuration files and plans of sweeps.

It prints every mistake with its line and what to write instead, and exits with
code 2. Without mistakes it prints the tokens that the traffic uses in a day, or
how long a sweep takes, its tokens, and which of its objectives (SLOs) it has enough turns to judge.
Nothing is sent to targets. The word "files" may be left out:
  synthetic check synthetic.yml`).Default()
	f := &checkFlags{}
	c.Arg("file", "Configuration files, and plan files of sweeps.").Required().StringsVar(&f.files)
	c.Flag("keys", "Fail if an environment variable that api_key_env names is not set, as \"run\" does. Use --no-keys on a machine without the keys.").Default("true").BoolVar(&f.keys)
	c.Flag("discover", "Look for targets with the discovery of the configuration for this long, and print them. Nothing is sent to them.").PlaceHolder("10s").DurationVar(&f.discover)
	return []command{{c, f.check}, addHealth(parent)}
}

func addHealth(parent *kingpin.CmdClause) command {
	f := &sidecarFlags{}
	c := parent.Command("health", `Ask a running sidecar whether it probes.

It prints the answer of /-/ready and exits with code 1 if the sidecar does not
probe or does not answer. Use it for health checks in images without a shell. It does
not verify the certificate of the sidecar, unless --http.config.file says so.`)
	f.add(c)
	return command{c, f.health}
}

type checkFlags struct {
	files    []string
	keys     bool
	discover time.Duration
}

func (f *checkFlags) check(ctx context.Context, e env) error {
	var all error
	for _, file := range f.files {
		check := f.checkConfig
		if isPlan(file) {
			check = checkPlan
		}
		all = errors.Join(all, check(ctx, e, file))
	}
	return all
}

// isPlan reports whether a file is a plan. It does not read a pipe, which can be read only once.
func isPlan(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && config.IsPlan(text)
}

func checkPlan(_ context.Context, e env, file string) error {
	plan, err := config.LoadPlan(file, cluster.Presets())
	if err != nil {
		return err
	}
	cells := len(sweep.Cells(plan))
	fmt.Fprintf(e.stdout, "%s: ok (%s, %s, %s, %s to measure)\n", file, count(len(plan.Variants), "variant"),
		count(len(plan.Levels), "level"), count(len(plan.SLOs), "SLO"), count(cells, "cell"))
	lines, err := sweep.Forecast(plan)
	if err != nil {
		return err
	}
	for _, line := range append(lines, plan.Notes...) {
		fmt.Fprintf(e.stdout, "%s: %s\n", file, line)
	}
	return nil
}

func (f *checkFlags) checkConfig(ctx context.Context, e env, file string) error {
	if file == "" {
		return usagef("name the configuration file; use /dev/stdin for standard input")
	}
	load := config.Load
	if f.keys {
		load = config.LoadToRun
	}
	cfg, err := load(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: ok (%s)\n", file, strings.Join(contents(cfg), ", "))
	for _, line := range append(spending(cfg), cfg.Notes...) {
		fmt.Fprintf(e.stdout, "%s: %s\n", file, line)
	}
	if f.discover > 0 {
		return showDiscovered(ctx, e, cfg, f.discover)
	}
	return nil
}

// showDiscovered runs the discovery for some time and prints the targets. The log names
// targets that are left out. It returns an error if the discovery of a group fails.
func showDiscovered(ctx context.Context, e env, cfg *config.Config, patience time.Duration) error {
	f := discovery.New(e.logger, nil)
	f.Follow(cfg.Groups)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := f.Run(ctx, func() error { return nil }); err != nil {
		return err
	}
	found, failing := f.Found(cfg.Groups), 0
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
	out := []string{count(len(cfg.Targets), "target"), count(len(cfg.Jobs), "pair") + " of target and workload", count(len(cfg.SLOs), "SLO")}
	if n := len(cfg.Changes); n > 0 {
		out = append(out, count(n, "change window"))
	}
	zone := time.UTC
	if cfg.Location != nil {
		zone = cfg.Location
	}
	return append(out, "time zone "+zone.String())
}
