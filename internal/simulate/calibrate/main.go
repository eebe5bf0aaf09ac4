// Command calibrate compares the simulated deployments with the benchmarks of
// the real ones, level by level, and fits their parameters to them.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"synthetic/internal/simulate/cluster"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	fitGroup := flags.String("fit", "", "fit the parameters of a `group` first: trtllm or vllm")
	evaluations := flags.Int("evaluations", 100, "how many configurations a fit tries")
	seeds := flags.Int("seeds", 3, "how many runs are averaged")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := reports()
	if err != nil {
		return err
	}
	if *fitGroup != "" {
		for _, g := range groups() {
			if g.name == *fitGroup {
				return fit(w, g, all, *seeds, *evaluations)
			}
		}
		return fmt.Errorf("group %q is unknown", *fitGroup)
	}
	for _, r := range all {
		for _, s := range r.Series {
			config, err := cluster.Preset(s.Preset)
			if err != nil {
				return err
			}
			model, err := simulate(s, config, *seeds)
			if err != nil {
				return err
			}
			sum, n := misfit(s.Levels, model)
			fmt.Fprintf(w, "%s %s misfit %.2f\n", r.Name, s.Preset, sum/float64(n))
			for i, l := range s.Levels {
				fmt.Fprintf(w, "%5g", l["load"])
				for _, f := range figures() {
					if v := l.get(f.name); !math.IsNaN(v) {
						fmt.Fprintf(w, "  %s %.*f|%.*f", f.name[:min(8, len(f.name))], f.digits, v, f.digits, model[i].get(f.name))
					}
				}
				fmt.Fprintln(w)
			}
		}
	}
	return nil
}
