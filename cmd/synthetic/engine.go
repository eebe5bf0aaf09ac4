package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/simulate"
)

// presetWarmUp is how long the load of a preset runs before the first request.
const presetWarmUp = 2 * time.Minute

// engineKeys returns the keys of --engine with their defaults. Set stores a value in o.
func engineKeys(o *simulate.Options) *flag.FlagSet {
	keys := flag.NewFlagSet("engine", flag.ContinueOnError)
	o.FirstToken.Sigma, o.InterToken.Sigma, o.Answer.Sigma = 0.2, 0.1, 0.2
	keys.DurationVar(&o.FirstToken.Median, "first_token", 120*time.Millisecond, "median delay of the first token")
	keys.DurationVar(&o.Prefill, "prefill", 40*time.Microsecond, "delay added for each prompt token that is not cached")
	keys.DurationVar(&o.InterToken.Median, "inter_token", 20*time.Millisecond, "median delay between two events of a stream")
	keys.IntVar(&o.Load.Concurrency, "load", 0, "conversations of other clients in flight; needs --preset")
	keys.Float64Var(&o.Speed, "speed", 1, "speed relative to the clock; needs --preset")
	keys.IntVar(&o.Answer.Median, "answer_tokens", 120, "median length of an answer; a preset has its own")
	keys.Float64Var(&o.Reasoning, "reasoning", 0, "share of an answer that is reasoning, before the content")
	return keys
}

// engineHelp lists the keys, indented so that --help keeps the lines.
func engineHelp() string {
	var b strings.Builder
	engineKeys(&simulate.Options{}).VisitAll(func(key *flag.Flag) {
		fmt.Fprintf(&b, "  %-26s %s\n", key.Name+"="+key.DefValue, key.Usage)
	})
	return b.String()
}

// applyEngine sets the options to the defaults, then those of --preset, then --engine.
func (f *simulateFlags) applyEngine() error {
	o := &f.options
	keys := engineKeys(o)
	wrongEngine, reason := []string{"load", "speed"}, "it needs --preset"
	if f.preset != "" {
		preset, err := simulate.Preset(f.preset)
		if err != nil {
			return usagef("--preset: %w", err)
		}
		o.Cluster, o.Answer, o.FirstAnswer, o.Load.WarmUp = preset.Cluster, preset.Answer, preset.FirstAnswer, presetWarmUp
		wrongEngine = []string{"first_token", "prefill", "inter_token"}
		reason = "--preset=" + f.preset + " computes its own delays; leave one of them out"
	}
	for setting := range strings.SplitSeq(strings.Join(f.engine, ","), ",") {
		name, value, _ := strings.Cut(setting, "=")
		switch key := keys.Lookup(name); {
		case setting == "":
		case key == nil:
			return usagef(`--engine=%s: there is no key %q; use one that "synthetic simulate --help" lists`, setting, name)
		case slices.Contains(wrongEngine, name):
			return usagef("--engine=%s: %s", setting, reason)
		case key.Value.Set(value) != nil:
			return usagef("--engine=%s: %q is not a valid value; write for example %s=%s", setting, value, name, exampleOf(key, value))
		case name == "answer_tokens":
			o.FirstAnswer = simulate.Length{} // the length that was asked for holds for every answer
		}
	}
	if err := checkEngine(keys, o); err != nil {
		return err
	}
	if f.preset == "" {
		o.Speed = 0 // only a preset has a speed
	}
	return nil
}

// exampleOf returns a valid value of a key: the given number with a unit if the unit is missing, or the default.
func exampleOf(key *flag.Flag, value string) string {
	_, err := strconv.ParseFloat(value, 64)
	if strings.HasSuffix(key.DefValue, "s") && err == nil { // a duration
		return value + "ms"
	}
	return key.DefValue
}

// checkEngine checks the ranges of the values.
func checkEngine(keys *flag.FlagSet, o *simulate.Options) error {
	noLimit := math.Inf(1)
	for _, k := range []struct {
		name             string
		value, low, high float64
	}{
		{"first_token", o.FirstToken.Median.Seconds(), 0, noLimit},
		{"prefill", o.Prefill.Seconds(), 0, noLimit},
		{"inter_token", o.InterToken.Median.Seconds(), 0, noLimit},
		{"load", float64(o.Load.Concurrency), 0, noLimit},
		{"speed", o.Speed, 1e-6, 1e6}, // beyond any use
		{"answer_tokens", float64(o.Answer.Median), 1, noLimit},
		{"reasoning", o.Reasoning, 0, 1},
	} {
		if k.value >= k.low && k.value <= k.high { // false for NaN
			continue
		}
		wanted := fmt.Sprintf("at least %g", k.low)
		if k.high < noLimit {
			wanted = fmt.Sprintf("a number from %g to %g", k.low, k.high)
		}
		return usagef("--engine=%s=%s: want %s", k.name, keys.Lookup(k.name).Value, wanted)
	}
	return nil
}
