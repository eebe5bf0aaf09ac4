package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

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
func cost(name, where string, field func(*cluster.Cost) *float64) parameter {
	return parameter{
		name: name, where: where,
		get: func(c cluster.Config) float64 { return *field(&c.Engine.Cost) },
		set: func(c *cluster.Config, v float64) { *field(&c.Engine.Cost) = v },
	}
}

func base(where string) parameter {
	return cost("base", where, func(c *cluster.Cost) *float64 { return &c.Base })
}
func token(where string) parameter {
	return cost("token", where, func(c *cluster.Cost) *float64 { return &c.Token })
}
func kvToken(where string) parameter {
	return cost("KV token", where, func(c *cluster.Cost) *float64 { return &c.KVToken })
}
func prefill(where string) parameter {
	return cost("prefill", where, func(c *cluster.Cost) *float64 { return &c.Prefill })
}
func eager(where string) parameter {
	return cost("eager", where, func(c *cluster.Cost) *float64 { return &c.Eager })
}
func draft(where string) parameter {
	return cost("draft", where, func(c *cluster.Cost) *float64 { return &c.Draft })
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
		{"trtllm", []string{"trtllm"}, []parameter{base(trt), token(trt), prefill(trt), eager(trt), requestDelay(trt)}},
		{"vllm", []string{"phase0", "eagle3", "bench"}, []parameter{
			base(dynamo + bench), token(dynamo), token(bench), draft("eagle3 bench-eagle3"),
			kvToken("phase0"), kvScale("phase0"), requestDelay(dynamo), requestDelay(bench),
		}},
	}
}

// applies tells whether a parameter belongs to a preset.
func (p parameter) applies(preset string) bool {
	return slices.Contains(strings.Fields(p.where), preset)
}

// fit searches the parameters of a group and prints what it finds.
func fit(w io.Writer, g group, all []report, seeds, evaluations int) error {
	var use []series
	for _, r := range all {
		for _, name := range g.reports {
			if r.Name == name {
				use = append(use, r.Series...)
			}
		}
	}
	configs := make([]cluster.Config, len(use))
	for i, s := range use {
		var err error
		if configs[i], err = cluster.Preset(s.Preset); err != nil {
			return err
		}
	}
	var start, steps []float64
	for _, p := range g.parameters {
		for i, s := range use {
			if p.applies(s.Preset) {
				if v := p.get(configs[i]); v > 0 {
					start = append(start, math.Log(v))
					break
				}
			}
		}
		steps = append(steps, .15)
	}
	if len(start) != len(steps) {
		return fmt.Errorf("group %q: a parameter starts at 0: give it a first value", g.name)
	}
	evaluate := func(x []float64) float64 {
		sums := make([]float64, len(use))
		counts := make([]int, len(use))
		both(len(use), func(i int) {
			config := configs[i]
			for j, p := range g.parameters {
				if p.applies(use[i].Preset) {
					p.set(&config, math.Exp(x[j]))
				}
			}
			model, err := simulate(use[i], config, seeds)
			if err != nil {
				sums[i], counts[i] = 1e6, 1
				return
			}
			sums[i], counts[i] = misfit(use[i].Levels, model)
		})
		sum, n := 0.0, 0
		for i := range sums {
			sum += sums[i]
			n += counts[i]
		}
		return sum / float64(n)
	}
	fmt.Fprintf(w, "%s: misfit %.3f\n", g.name, evaluate(start))
	best, y := minimize(evaluate, start, steps, evaluations)
	fmt.Fprintf(w, "%s: misfit %.3f with\n", g.name, y)
	for i, p := range g.parameters {
		fmt.Fprintf(w, "  %-14s %-26s %.4g\n", p.name, p.where, math.Exp(best[i]))
	}
	return nil
}

// both calls do for 0 to n-1, two at a time.
func both(n int, do func(int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
