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

	"synthetic/internal/probe/target"
)

// planLine holds the flags of "synthetic sweep" that replace a plan file.
type planLine struct {
	baseURL, api, model, keyFile, keyEnv string
	concurrency, rate                    string
	duration, warmUp                     time.Duration
	warmUpGiven                          bool // a warm-up of 0 is valid
	promptTokens, outputTokens, turns    int
}

func (l *planLine) add(c *kingpin.CmdClause) {
	flag := func(name, help, placeHolder string) *kingpin.FlagClause {
		return c.Flag(name, help+" Not with --plan.file.").PlaceHolder(placeHolder)
	}
	flag("base-url", "Address of the API, or preset:NAME for a simulated deployment.", "URL").StringVar(&l.baseURL)
	flag("concurrency", "Levels of conversations in flight (closed loop).", "10,50,100").StringVar(&l.concurrency)
	flag("rate", "Levels of conversations started per second (open loop).", "0.5,1,2").StringVar(&l.rate)
	flag("duration", "Measured time of each level.", "60s").DurationVar(&l.duration)
	flag("warm-up", "Time under the same load before the measured time. Default: a third of the duration.", "20s").
		IsSetByUser(&l.warmUpGiven).DurationVar(&l.warmUp)
	flag("api", "API of the endpoint: "+apiList(target.APIs())+".", string(target.Chat)).StringVar(&l.api)
	flag("model", "Model to ask for. Default: the first that /models lists.", "NAME").StringVar(&l.model)
	flag("api-key-file", "File that holds the API key.", "FILE").StringVar(&l.keyFile)
	flag("api-key-env", "Environment variable that holds the API key.", "NAME").StringVar(&l.keyEnv)
	flag("prompt-tokens", "Approximate length of first messages in tokens.", "N").IntVar(&l.promptTokens)
	flag("max-output-tokens", "Limit of each answer in tokens.", "N").IntVar(&l.outputTokens)
	flag("turns", "Turns of each conversation.", "N").IntVar(&l.turns)
}

// given returns the name of a flag that was given, "" if none was.
func (l *planLine) given() string {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"base-url", l.baseURL != ""}, {"concurrency", l.concurrency != ""}, {"rate", l.rate != ""},
		{"duration", l.duration != 0}, {"warm-up", l.warmUpGiven}, {"api", l.api != ""}, {"model", l.model != ""},
		{"api-key-file", l.keyFile != ""}, {"api-key-env", l.keyEnv != ""},
		{"prompt-tokens", l.promptTokens != 0}, {"max-output-tokens", l.outputTokens != 0}, {"turns", l.turns != 0},
	} {
		if f.given {
			return f.name
		}
	}
	return ""
}

// defaultDuration is the measured time of a level. The warm-up takes 1/warmUpShare of it.
const (
	defaultDuration = time.Minute
	warmUpShare     = 3
)

// text returns the plan file that the flags stand for. Values are checked when the text
// is parsed.
func (l *planLine) text() (string, error) {
	switch {
	case l.baseURL == "":
		return "", usagef("name the plan: --plan.file=plan.yml, or --base-url=http://127.0.0.1:8000/v1 --concurrency=10,50,100")
	case (l.concurrency == "") == (l.rate == ""):
		return "", usagef("--base-url takes either --concurrency=10,50,100 or --rate=0.5,1,2")
	case l.duration < 0 || l.warmUp < 0:
		return "", usagef("--duration and --warm-up cannot be negative: write for example 60s")
	}
	if l.duration == 0 {
		l.duration = defaultDuration
	}
	if l.keyFile != "" { // relative to the working directory, not to the plan file
		path, err := filepath.Abs(l.keyFile)
		if err != nil {
			return "", fmt.Errorf("--api-key-file: %w", err)
		}
		l.keyFile = path
	}
	if !l.warmUpGiven {
		l.warmUp = (l.duration / warmUpShare).Round(time.Second)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "variants:\n  - base_url: %s\n", quoted(l.baseURL))
	for _, f := range []struct{ key, value string }{
		{"api", l.api}, {"model", l.model}, {"api_key_file", l.keyFile}, {"api_key_env", l.keyEnv},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, "    %s: %s\n", f.key, quoted(f.value))
		}
	}
	b.WriteString(l.workload())
	fmt.Fprintf(&b, "levels: {%s}\n", l.levels())
	fmt.Fprintf(&b, "warm_up: {duration: %s}\nmeasure: {snapshots: 1, snapshot: %s}\n", model.Duration(l.warmUp), model.Duration(l.duration))
	return b.String(), nil
}

func (l *planLine) workload() string {
	var keys []string
	if l.promptTokens != 0 {
		keys = append(keys, fmt.Sprintf("prompt_tokens: %d", l.promptTokens))
	}
	if l.outputTokens != 0 {
		keys = append(keys, fmt.Sprintf("max_output_tokens: %d", l.outputTokens))
	}
	if l.turns != 0 {
		keys = append(keys, fmt.Sprintf("turns: {min: %[1]d, max: %[1]d}", l.turns))
	}
	if keys == nil {
		return ""
	}
	return "workload: {" + strings.Join(keys, ", ") + "}\n"
}

// levels returns the levels that were given. In a closed loop, conversations start fast
// enough to reach the highest level after half of the warm-up.
func (l *planLine) levels() string {
	if l.rate != "" {
		return "rate: [" + l.rate + "]"
	}
	text, highest := "concurrency: ["+l.concurrency+"]", 0.0
	for level := range strings.SplitSeq(l.concurrency, ",") {
		if v, err := strconv.ParseFloat(strings.TrimSpace(level), 64); err == nil {
			highest = max(highest, v)
		}
	}
	if half := l.warmUp.Seconds() / 2; half > 0 && highest/half > 10 { // 10 is the default of start_rate
		text += fmt.Sprintf(", start_rate: %g", float64(int(highest/half)+1))
	}
	return text
}

// quoted quotes text for YAML, which accepts JSON strings.
func quoted(text string) string {
	data, _ := json.Marshal(text) // a string cannot fail
	return string(data)
}
