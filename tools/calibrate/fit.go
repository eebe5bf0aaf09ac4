package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"synthetic/internal/simulate/cluster"
)

// parameter is something to fit: it is searched on a logarithmic scale.
type parameter struct {
	name  string
	get   func(cluster.Config) float64
	set   func(*cluster.Config, float64)
	where string // the presets that share it
}

// cost is a parameter of Engine.Cost.
func cost(name, where string) parameter {
	field := func(c *cluster.Cost) *float64 {
		return map[string]*float64{
			"base": &c.Base, "token": &c.Token, "KV token": &c.KVToken,
			"prefill": &c.Prefill, "eager": &c.Eager, "draft": &c.Draft,
		}[name]
	}
	return parameter{
		name: name, where: where,
		get: func(c cluster.Config) float64 { return *field(&c.Engine.Cost) },
		set: func(c *cluster.Config, v float64) { *field(&c.Engine.Cost) = v },
	}
}

// requestDelay is the frontend's part of the time to the first token.
func requestDelay(where string) parameter {
	return parameter{
		name: "request delay", where: where,
		get: func(c cluster.Config) float64 { return c.Frontend.RequestDelay.Seconds() },
		set: func(c *cluster.Config, v float64) { c.Frontend.RequestDelay = time.Duration(v * float64(time.Second)) },
	}
}

// kvScale scales the KV memory.
func kvScale(where string) parameter {
	return parameter{
		name: "KV tokens", where: where,
		get: func(c cluster.Config) float64 { return 1 },
		set: func(c *cluster.Config, v float64) {
			c.Engine.KVTokens = int(float64(c.Engine.KVTokens) * v)
			c.Engine.Speculation.KVTokens = int(float64(c.Engine.Speculation.KVTokens) * v)
		},
	}
}

// group is what is fitted together.
type group struct {
	name       string
	reports    []string
	parameters []parameter
}

func groups() []group {
	const (
		trt    = "trtllm-rr trtllm-kv"
		dynamo = "phase0 eagle3 "
		bench  = "bench-phase0 bench-eagle3"
	)
	return []group{
		{"trtllm", []string{"trtllm", "trtllm-near-full"}, []parameter{
			cost("base", trt), cost("token", trt), cost("prefill", trt), cost("eager", trt), requestDelay(trt),
		}},
		{"vllm", []string{"phase0", "eagle3", "bench"}, []parameter{
			cost("base", dynamo+bench), cost("token", dynamo), cost("token", bench), cost("draft", "eagle3 bench-eagle3"),
			cost("KV token", "phase0"), kvScale("phase0"), requestDelay(dynamo), requestDelay(bench),
		}},
	}
}

// applies tells whether a parameter belongs to a preset.
func (p parameter) applies(preset string) bool {
	return slices.Contains(strings.Fields(p.where), preset)
}

// search is a fit of a group.
type search struct {
	group
	series  []series
	configs []cluster.Config
	seeds   int
}

// fitGroup searches the parameters of a group and prints what it finds.
func fitGroup(w io.Writer, name string, seeds, evaluations int) error {
	f, err := newSearch(name, seeds)
	if err != nil {
		return err
	}
	start, err := f.start()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: misfit %.3f\n", name, f.misfit(start))
	best, y, err := minimize(f.misfit, start, .15, evaluations)
	if err != nil {
		return fmt.Errorf("fitting %q: %w", name, err)
	}
	fmt.Fprintf(w, "%s: misfit %.3f with\n", name, y)
	for i, p := range f.parameters {
		fmt.Fprintf(w, "  %-14s %-26s %.4g\n", p.name, p.where, math.Exp(best[i]))
	}
	return nil
}

// newSearch collects what a group is fitted on.
func newSearch(name string, seeds int) (*search, error) {
	all, err := reports()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(groups(), func(g group) bool { return g.name == name })
	if i < 0 {
		return nil, fmt.Errorf("group %q is unknown: give trtllm or vllm", name)
	}
	f := &search{group: groups()[i], seeds: seeds}
	for _, r := range all {
		if slices.Contains(f.reports, r.Name) {
			f.series = append(f.series, r.Series...)
		}
	}
	for _, s := range f.series {
		c, err := cluster.Preset(s.Preset)
		if err != nil {
			return nil, err
		}
		f.configs = append(f.configs, c)
	}
	return f, nil
}

// start is where the search begins: at the presets' logarithms.
func (f *search) start() (start []float64, err error) {
	for _, p := range f.parameters {
		i := slices.IndexFunc(f.series, func(s series) bool { return p.applies(s.Preset) })
		v := p.get(f.configs[i])
		if v <= 0 {
			return nil, fmt.Errorf("%s of %s is %v: it cannot be searched on a logarithmic scale", p.name, p.where, v)
		}
		start = append(start, math.Log(v))
	}
	return start, nil
}

// misfit is the mean misfit of all figures with other parameters.
func (f *search) misfit(x []float64) float64 {
	sums, counts := make([]float64, len(f.series)), make([]int, len(f.series))
	both(len(f.series), func(i int) {
		config := f.configs[i]
		for j, p := range f.parameters {
			if p.applies(f.series[i].Preset) {
				p.set(&config, math.Exp(x[j]))
			}
		}
		model, _, err := simulate(f.series[i], config, f.seeds)
		if err != nil {
			sums[i], counts[i] = math.Inf(1), 1 // the search went where no deployment is
			return
		}
		sums[i], counts[i] = misfit(f.series[i].Levels, model)
	})
	sum, n := 0.0, 0
	for i := range sums {
		sum += sums[i]
		n += counts[i]
	}
	return sum / float64(n)
}

// both calls do for 0 to n-1, two at a time.
func both(n int, do func(int)) {
	var two errgroup.Group
	two.SetLimit(2)
	for i := range n {
		two.Go(func() error { do(i); return nil })
	}
	_ = two.Wait() // none fails
}
