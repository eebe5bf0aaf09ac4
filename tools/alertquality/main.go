// Command alertquality measures the alert rules on simulated deployments, or on a log of turns: which faults they find,
// how soon, and how many pages are false.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/measured"
)

type flags struct {
	worlds, page, readme string
	rate, burstRate      float64
	seed                 uint64
	seeds, warm          int
	healthy, faulty      int
	faults               int
	alone                bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	debug.SetGCPercent(400) // it has little memory, and allocates much
	if len(os.Args) > 1 && os.Args[1] == "replay" {
		exit(replay(ctx, os.Args[2:], os.Stdout))
	}
	var f flags
	flag.StringVar(&f.worlds, "worlds", "table", "table, chosen or sealed; or names of worlds, separated by commas")
	flag.Float64Var(&f.rate, "rate", 0, "conversations a minute; 0 for those of each world")
	flag.Float64Var(&f.burstRate, "burst-rate", 0, "conversations a second at the first sign of a fault; 0 for no bursts, 0.2 is the default of synthetic")
	flag.Uint64Var(&f.seed, "seed", 0, "the first seed; 0 for 101, or that of the sealed worlds")
	flag.IntVar(&f.seeds, "seeds", 1, "number of seeds; each has one run without faults and one with faults")
	flag.IntVar(&f.warm, "warm-up", 7, "days before each run, in which baselines are learned")
	flag.IntVar(&f.healthy, "healthy-days", 30, "length of a run without faults")
	flag.IntVar(&f.faulty, "faulty-days", 15, "length of a run with faults")
	flag.IntVar(&f.faults, "faults", 60, "number of faults of a run with faults")
	flag.BoolVar(&f.alone, "detector-alone", false, "score the detector without the rules, forty times faster; outages are not found then")
	flag.StringVar(&f.page, "write", "", "page that gets the tables between its marks")
	flag.StringVar(&f.readme, "readme", "", "page that gets a summary between its marks")
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
	outcomes, err := c.Run(ctx)
	if err != nil {
		return err
	}
	r := result{models: c.Models, all: engine.NewScore("all", slices.Concat(outcomes...))}
	for i, m := range c.Models {
		r.scores = append(r.scores, engine.NewScore(m.Name, outcomes[i]))
	}
	runs := fmt.Sprintf("%d runs of %d worlds in %s", 2*len(c.Models)*len(c.Seeds), len(c.Models), time.Since(began).Round(time.Minute))
	text := fmt.Sprintf("%s\n%s\n%s", measured.Here(runs, load), c.Describe(), r.tables())
	fmt.Print(text)
	if f.page != "" {
		err = measured.Replace(f.page, tool, text)
	}
	if f.readme != "" {
		err = errors.Join(err, measured.Replace(f.readme, tool, r.summary()))
	}
	return err
}

// tool is the name in the marks of pages.
const tool = "alert-quality"

// campaign returns the runs that the flags ask for.
func (f flags) campaign() (c worlds.Campaign, err error) {
	if f.seeds < 1 || min(f.healthy, f.faulty, f.warm, f.faults) < 0 || f.rate < 0 {
		return c, errors.New("-seeds must be positive; -healthy-days, -faulty-days, -warm-up, -faults and -rate must not be negative")
	}
	c = worlds.Campaign{
		Faults: f.faults, HealthyDays: f.healthy, FaultyDays: f.faulty, WarmUp: f.warm, BurstRate: f.burstRate, DetectorAlone: f.alone,
		Workers: runtime.GOMAXPROCS(0),
	}
	if _, err = worlds.DrawInjections(worlds.Faults(), f.faults, 0, time.Duration(f.faulty)*24*time.Hour, rand.New(rand.NewPCG(1, 1))); err != nil {
		return c, err
	}
	if c.Models, err = modelsOf(f.worlds); err != nil {
		return c, err
	}
	first := uint64(101)
	if f.worlds == "sealed" {
		first = worlds.SealedSeed
	}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, cmp.Or(f.seed, first)+uint64(i))
	}
	for i := range c.Models {
		c.Models[i].ConversationsPerMinute = cmp.Or(f.rate, c.Models[i].ConversationsPerMinute)
	}
	return c, nil
}

// modelsOf returns the worlds of a list, or those with some names.
func modelsOf(chosen string) ([]worlds.Model, error) {
	switch chosen {
	case "table":
		return worlds.Table(), nil
	case "chosen":
		return worlds.Chosen(), nil
	case "sealed":
		return worlds.Sealed(), nil
	}
	var models []worlds.Model
	all := slices.Concat(worlds.Chosen(), worlds.Sealed())
	for name := range strings.SplitSeq(chosen, ",") {
		i := slices.IndexFunc(all, func(m worlds.Model) bool { return m.Name == name })
		if i < 0 {
			var names []string
			for _, m := range all {
				names = append(names, m.Name)
			}
			return nil, fmt.Errorf("-worlds: unknown world %q; write table, chosen, sealed or some of %q", name, names)
		}
		models = append(models, all[i])
	}
	return models, nil
}
