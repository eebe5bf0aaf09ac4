// Command alertquality measures the alert rules on simulated deployments: which faults they find, how soon, and how
// many pages are false.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/measured"
)

type flags struct {
	models, page, readme      string
	rate, burstRate           float64
	seed                      uint64
	seeds, days, warm, worker int
}

func main() {
	var f flags
	flag.StringVar(&f.models, "models", "", "names of worlds, separated by commas; empty for all")
	flag.Float64Var(&f.rate, "rate", 0, "conversations a minute; 0 for those of each world")
	flag.Float64Var(&f.burstRate, "burst-rate", 0, "conversations a second at the first sign of a fault; 0 for no bursts, 0.2 is the default of synthetic")
	flag.Uint64Var(&f.seed, "seed", 101, "the first seed")
	flag.IntVar(&f.seeds, "seeds", 1, "number of seeds; each has one run without faults and one with faults")
	flag.IntVar(&f.days, "days", 7, "length of each run")
	flag.IntVar(&f.warm, "warm-up", 7, "days before each run, in which baselines are learned")
	flag.IntVar(&f.worker, "workers", 2, "number of runs at the same time")
	flag.StringVar(&f.page, "write", "", "page that gets the tables between its marks")
	flag.StringVar(&f.readme, "readme", "", "page that gets a summary between its marks")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	debug.SetGCPercent(400) // it has little memory, and allocates much
	if len(os.Args) > 1 && os.Args[1] == "replay" {
		exit(replay(ctx, os.Args[2:], os.Stdout))
	}
	flag.Parse()
	exit(f.run(ctx))
}

// usage is an error in what the user gave.
type usage struct{ error }

// exit ends the process: with the code 2 after an error in what the user gave.
func exit(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "alertquality:", err)
	if errors.As(err, &usage{}) {
		os.Exit(2)
	}
	os.Exit(1)
}

func (f flags) run(ctx context.Context) error {
	c, err := f.campaign()
	if err != nil {
		return usage{err}
	}
	load, began := measured.Load(), time.Now()
	scores, err := c.Run(ctx)
	if err != nil {
		return err
	}
	runs := fmt.Sprintf("%d runs of %d days in %s", 2*len(c.Models)*len(c.Seeds), c.Days, time.Since(began).Round(time.Minute))
	text := fmt.Sprintf("%s\n%s\n%s", measured.Here(runs, load), c.Describe(), tables(c.Models, scores))
	fmt.Print(text)
	if f.page != "" {
		err = measured.Replace(f.page, tool, text)
	}
	if f.readme != "" {
		err = errors.Join(err, measured.Replace(f.readme, tool, summary(scores)))
	}
	return err
}

// tool is the name in the marks of pages.
const tool = "alert-quality"

// campaign returns the runs that the flags ask for.
func (f flags) campaign() (worlds.Campaign, error) {
	c := worlds.Campaign{Faults: worlds.Faults(), Days: f.days, WarmUp: f.warm, Workers: f.worker, BurstRate: f.burstRate}
	if f.seeds < 1 || f.days < 1 || f.warm < 0 || f.worker < 1 || f.rate < 0 {
		return c, errors.New("-seeds, -days and -workers must be positive; -warm-up and -rate must not be negative")
	}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.seed+uint64(i))
	}
	var names []string
	chosen := strings.Split(f.models, ",")
	for _, m := range worlds.Table() {
		names = append(names, m.Name)
		if f.models == "" || slices.Contains(chosen, m.Name) {
			if f.rate > 0 {
				m.ConversationsPerMinute = f.rate
			}
			c.Models = append(c.Models, m)
		}
	}
	for _, name := range chosen {
		if f.models != "" && !slices.Contains(names, name) {
			return c, fmt.Errorf("-models: unknown world %q; choose among %q", name, names)
		}
	}
	return c, nil
}

// tables returns the tables of the page.
func tables(models []worlds.Model, scores []engine.Score) string {
	return strings.Join([]string{"### Bounds\n", boundsTable(scores), "### False pages\n", falseTable(models, scores), "### Faults found\n", faultTable(scores)}, "\n")
}
