package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/simulate"
)

// Upper bounds of the engine's settings, beyond those of any real engine.
const (
	maxSpread         = 5
	maxTokensPerEvent = 64
	maxSpeed          = 1e6
)

// presetWarmUp is how long the load of a preset runs before the first request.
const presetWarmUp = 2 * time.Minute

// The two engines: fixed draws delays from distributions, preset computes them from a
// model of a measured deployment.
const fixed, preset = "fixed", "preset"

// engineKey is a key of --engine.
type engineKey struct {
	name, value string
	// only is the engine that has this key: fixed, preset or "" for both.
	only string
	set  func(value string) error
	help string
}

// engineKeys returns the keys of --engine with their defaults. set stores a value in
// the options.
func (f *simulateFlags) engineKeys() []engineKey {
	o := &f.options
	return []engineKey{
		{"first_token", "120ms", fixed, delay(&o.FirstToken.Median), "median delay of the first token"},
		{"first_token_spread", "0.2", fixed, number(&o.FirstToken.Sigma, 0, maxSpread), "sigma of its logarithm"},
		{"prefill", "40us", fixed, delay(&o.Prefill), "delay added for each prompt token that is not cached"},
		{"inter_token", "20ms", fixed, delay(&o.InterToken.Median), "median delay between two events of a stream"},
		{"inter_token_spread", "0.1", fixed, number(&o.InterToken.Sigma, 0, maxSpread), "sigma of its logarithm"},
		{"tokens_per_event", "1", fixed, number(&o.TokensPerEvent, 1, maxTokensPerEvent), "mean number of tokens in an event"},
		{"load", "0", preset, integer(&o.Load.Concurrency, 0), "conversations of other clients in flight; needs --preset"},
		{"speed", "1", preset, number(&o.Speed, 1/maxSpeed, maxSpeed), "speed relative to the clock; needs --preset"},
		{"answer_tokens", "120", "", integer(&o.Answer.Median, 1), "median length of an answer; a preset has its own"},
		{"answer_tokens_spread", "0.2", "", number(&o.Answer.Sigma, 0, maxSpread), "sigma of its logarithm"},
		{"reasoning", "0", "", number(&o.Reasoning, 0, 1), "share of an answer that is reasoning, before the content"},
		{"reasoning_field", "reasoning", "", reasoningField(&o.ReasoningField), "or reasoning_content"},
		{"refuse_max_tokens", "false", "", boolean(&o.RefuseMaxTokens), "answer max_tokens with 400, as OpenAI's reasoning models do"},
		{"adapters", "", "", list(&o.Adapters), "LoRA adapters of the model: adapters=sql+legal"},
	}
}

func delay(to *time.Duration) func(string) error {
	return func(value string) (err error) {
		if *to, err = time.ParseDuration(value); err != nil || *to < 0 {
			return errors.New("want a duration such as 20ms, 0 or longer")
		}
		return nil
	}
}

func number(to *float64, low, high float64) func(string) error {
	return func(value string) (err error) {
		// The condition also refuses NaN.
		if *to, err = strconv.ParseFloat(value, 64); err != nil || !(*to >= low && *to <= high) {
			return fmt.Errorf("want a number from %v to %v", low, high)
		}
		return nil
	}
}

func integer(to *int, low int) func(string) error {
	return func(value string) (err error) {
		if *to, err = strconv.Atoi(value); err != nil || *to < low {
			return fmt.Errorf("want a whole number from %d", low)
		}
		return nil
	}
}

func boolean(to *bool) func(string) error {
	return func(value string) (err error) {
		if *to, err = strconv.ParseBool(value); err != nil {
			return errors.New("want true or false")
		}
		return nil
	}
}

func list(to *[]string) func(string) error {
	return func(value string) error {
		*to = slices.DeleteFunc(strings.Split(value, "+"), func(name string) bool { return name == "" })
		return nil
	}
}

func reasoningField(to *string) func(string) error {
	return func(value string) error {
		if *to = value; value != "reasoning" && value != "reasoning_content" {
			return errors.New("want reasoning or reasoning_content")
		}
		return nil
	}
}

// engineHelp lists the keys, indented so that --help keeps the lines.
func engineHelp(keys []engineKey) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "  %-26s %s\n", k.name+"="+k.value, k.help)
	}
	return b.String()
}

// applyEngine sets the options from --preset, the defaults and --engine, in this order.
func (f *simulateFlags) applyEngine() error {
	o, keys := &f.options, f.engineKeys()
	for _, k := range keys {
		if err := k.set(k.value); err != nil {
			return err
		}
	}
	unwanted, reason := preset, "it needs --preset"
	if f.preset != "" {
		measured, err := simulate.Preset(f.preset)
		if err != nil {
			return usagef("--preset: %w", err)
		}
		o.Cluster, o.Answer, o.Load.WarmUp = measured.Cluster, measured.Answer, presetWarmUp
		unwanted, reason = fixed, "--preset="+f.preset+" computes its own delays; leave one of them out"
	}
	for setting := range strings.SplitSeq(strings.Join(f.engine, ","), ",") {
		if setting == "" {
			continue
		}
		name, value, _ := strings.Cut(setting, "=")
		i := slices.IndexFunc(keys, func(k engineKey) bool { return k.name == name })
		switch {
		case i < 0:
			return usagef(`--engine=%s: there is no key %q; "synthetic simulate --help" lists the keys`, setting, name)
		case keys[i].only == unwanted:
			return usagef("--engine=%s: %s", setting, reason)
		}
		if err := keys[i].set(value); err != nil {
			return usagef("--engine=%s: %w", setting, err)
		}
	}
	if f.preset == "" {
		o.Speed = 0 // only a cluster has a speed
	}
	return nil
}
