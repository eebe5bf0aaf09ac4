package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe/dialect"
)

// planLine holds the flags of "synthetic sweep" that replace a plan file, by name. The value
// of a flag that was not given is "".
type planLine map[string]*string

func (l planLine) add(c *kingpin.CmdClause) {
	for _, f := range []struct{ name, placeHolder, help string }{
		{"base-url", "URL", "Address of the API, or preset:NAME for a simulated deployment."},
		{"concurrency", "10,50,100", "Levels of conversations in flight (closed loop)."},
		{"rate", "0.5,1,2", "Levels of conversations started per second (open loop)."},
		{"duration", "60s", "Measured time of each level."},
		{"warm-up", "20s", "Time under the same load before the measured time. Default: a third of the duration."},
		{"api", string(dialect.Default), "API of the endpoint: " + apiList(dialect.Names()) + "."},
		{"model", "NAME", "Model to ask for. Default: the first that /models lists."},
		{"api-key-file", "FILE", "File that holds the API key."},
		{"api-key-env", "NAME", "Environment variable that holds the API key."},
		{"prompt-tokens", "N", "Approximate length of first messages in tokens."},
		{"max-output-tokens", "N", "Limit of each answer in tokens."},
		{"turns", "N", "Turns of each conversation."},
	} {
		l[f.name] = c.Flag(f.name, f.help+" Not with --plan.file.").PlaceHolder(f.placeHolder).String()
	}
}

// given returns the name of a flag that was given, "" if none was.
func (l planLine) given() string {
	for name, value := range l {
		if *value != "" {
			return name
		}
	}
	return ""
}

// text returns the plan file that the flags stand for. Most values are checked when the text
// is parsed.
func (l planLine) text() (string, error) {
	switch {
	case *l["base-url"] == "":
		return "", usagef("name the plan: --plan.file=plan.yml, or --base-url=http://127.0.0.1:8000/v1 --concurrency=10,50,100")
	case (*l["concurrency"] == "") == (*l["rate"] == ""):
		return "", usagef("write either --concurrency=10,50,100 or --rate=0.5,1,2 beside --base-url")
	}
	duration, err := l.time("duration", time.Minute)
	if err != nil {
		return "", err
	}
	warmUp, err := l.time("warm-up", (duration / 3).Round(100*time.Millisecond))
	if err != nil {
		return "", err
	}
	if file := l["api-key-file"]; *file != "" { // relative to the working directory, not to the plan file
		if *file, err = filepath.Abs(*file); err != nil {
			return "", fmt.Errorf("--api-key-file: %w", err)
		}
	}
	var b strings.Builder
	b.WriteString("variants:\n  - " + strings.Join(l.keys(quoted, "base-url", "api", "model", "api-key-file", "api-key-env"), "\n    ") + "\n")
	workload := l.keys(strings.TrimSpace, "prompt-tokens", "max-output-tokens")
	if turns := *l["turns"]; turns != "" {
		workload = append(workload, fmt.Sprintf("turns: {min: %[1]s, max: %[1]s}", turns))
	}
	if workload != nil {
		fmt.Fprintf(&b, "workload: {%s}\n", strings.Join(workload, ", "))
	}
	fmt.Fprintf(&b, "levels: {%s}\n", l.levels(warmUp))
	fmt.Fprintf(&b, "warm_up: {duration: %s}\nmeasure: {snapshots: 1, snapshot: %s}\n", model.Duration(warmUp), model.Duration(duration))
	return b.String(), nil
}

func (l planLine) time(name string, missing time.Duration) (time.Duration, error) {
	if *l[name] == "" {
		return missing, nil
	}
	d, err := time.ParseDuration(*l[name])
	if err != nil || d < 0 {
		return 0, usagef("--%s=%s: want a duration, for example 60s", name, *l[name])
	}
	return d, nil
}

// keys returns "key: value" for each of the flags that was given.
func (l planLine) keys(format func(string) string, names ...string) []string {
	var keys []string
	for _, name := range names {
		if *l[name] != "" {
			keys = append(keys, strings.ReplaceAll(name, "-", "_")+": "+format(*l[name]))
		}
	}
	return keys
}

// levels returns the levels that were given. In a closed loop, conversations start fast
// enough to reach the highest level after half of the warm-up.
func (l planLine) levels(warmUp time.Duration) string {
	if *l["rate"] != "" {
		return "rate: [" + *l["rate"] + "]"
	}
	text, highest := "concurrency: ["+*l["concurrency"]+"]", 0.0
	for level := range strings.SplitSeq(*l["concurrency"], ",") {
		if v, err := strconv.ParseFloat(strings.TrimSpace(level), 64); err == nil {
			highest = max(highest, v)
		}
	}
	if half := warmUp.Seconds() / 2; half > 0 && highest/half > 10 { // 10 is the default of start_rate
		text += fmt.Sprintf(", start_rate: %g", float64(int(highest/half)+1))
	}
	return text
}

// quoted quotes text for YAML, which accepts JSON strings.
func quoted(text string) string {
	data, _ := json.Marshal(text) // a string cannot fail
	return string(data)
}
