package main

import (
	"fmt"
	"math"
	"time"

	"synthetic/internal/simulate/cluster"
)

// parameters renders the table of the presets' parameters.
func parameters() string {
	t := table{{"parameter"}}
	var configs []cluster.Config
	for _, name := range cluster.Presets() {
		c, err := cluster.Preset(name)
		if err != nil {
			panic(err) // impossible: Preset knows all names of Presets
		}
		t[0] = append(t[0], "`"+name+"`")
		configs = append(configs, c)
	}
	for _, p := range []struct {
		name string
		of   func(cluster.Config) string
	}{
		{"workers", func(c cluster.Config) string { return fmt.Sprint(c.Workers) }},
		{"router", func(c cluster.Config) string { return string(c.Policy) }},
		{"sequences per batch", func(c cluster.Config) string { return fmt.Sprint(c.Engine.MaxSeqs) }},
		{"tokens per step", func(c cluster.Config) string { return fmt.Sprint(c.Engine.MaxBatchedTokens) }},
		{"KV memory, tokens", func(c cluster.Config) string { return fmt.Sprint(c.Engine.KVTokens) }},
		{"taken by the drafter", func(c cluster.Config) string { return orDash(float64(c.Engine.Speculation.KVTokens), 0) }},
		{"drafted tokens", func(c cluster.Config) string { return orDash(float64(c.Engine.Speculation.Draft), 0) }},
		{"lookahead, steps", func(c cluster.Config) string { return fmt.Sprint(c.Engine.Lookahead) }},
		{"base, ms", func(c cluster.Config) string { return number(c.Engine.Cost.Base*1e3, 2) }},
		{"token, µs", func(c cluster.Config) string { return number(c.Engine.Cost.Token*1e6, 1) }},
		{"KV token, ns", func(c cluster.Config) string { return number(c.Engine.Cost.KVToken*1e9, 1) }},
		{"prefill, µs", func(c cluster.Config) string { return number(c.Engine.Cost.Prefill*1e6, 1) }},
		{"pair, ns", func(c cluster.Config) string { return number(c.Engine.Cost.Pair*1e9, 1) }},
		{"eager, ms", func(c cluster.Config) string { return orDash(c.Engine.Cost.Eager*1e3, 1) }},
		{"draft, ms", func(c cluster.Config) string { return orDash(c.Engine.Cost.Draft*1e3, 2) }},
		{"request delay, ms", func(c cluster.Config) string { return milliseconds(c.Frontend.RequestDelay) }},
		{"response delay, ms", func(c cluster.Config) string { return milliseconds(c.Frontend.ResponseDelay) }},
		{"deadline, s", func(c cluster.Config) string { return orDash(c.Frontend.Deadline.Seconds(), 0) }},
	} {
		row := []string{p.name}
		for _, c := range configs {
			row = append(row, p.of(c))
		}
		t = append(t, row)
	}
	return t.String()
}

// orDash renders a number, and a dash for zero and unknown numbers.
func orDash(v float64, digits int) string {
	if v == 0 || math.IsNaN(v) {
		return "–"
	}
	return number(v, digits)
}

func milliseconds(d time.Duration) string { return number(float64(d)/1e6, 0) }
