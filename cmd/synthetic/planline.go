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

// planLine is a plan file in flags: what they leave out is the file's default.
type planLine struct {
	baseURL, api, model, keyFile, keyEnv string
	concurrency, rate                    string
	duration, warmUp                     time.Duration
	warmUpGiven                          bool // 0 is none
	promptTokens, outputTokens, turns    int
}

func (l *planLine) add(c *kingpin.CmdClause) {
	c.Flag("base-url", "Instead of a plan file: where the API is, or preset:NAME for a simulated deployment.").PlaceHolder("URL").StringVar(&l.baseURL)
	c.Flag("concurrency", "Levels of conversations in flight: a closed loop. Likewise.").PlaceHolder("10,50,100").StringVar(&l.concurrency)
	c.Flag("rate", "Levels of conversations started per second: an open loop. Likewise.").PlaceHolder("0.5,1,2").StringVar(&l.rate)
	c.Flag("duration", "Measured time of each level (60s). Likewise.").PlaceHolder("60s").DurationVar(&l.duration)
	c.Flag("warm-up", "Time before it under the same load (a third of the duration). Likewise.").PlaceHolder("20s").IsSetByUser(&l.warmUpGiven).DurationVar(&l.warmUp)
	c.Flag("api", "API of the endpoint: "+strings.Join(apiNames(), ", ")+". Likewise.").PlaceHolder(string(target.Chat)).StringVar(&l.api)
	c.Flag("model", "Model to ask for; by default the first that /models lists. Likewise.").PlaceHolder("NAME").StringVar(&l.model)
	c.Flag("api-key-file", "File that holds the API key. Likewise.").PlaceHolder("FILE").StringVar(&l.keyFile)
	c.Flag("api-key-env", "Environment variable that holds the API key. Likewise.").PlaceHolder("NAME").StringVar(&l.keyEnv)
	c.Flag("prompt-tokens", "Approximate length of first messages in tokens. Likewise.").PlaceHolder("N").IntVar(&l.promptTokens)
	c.Flag("max-output-tokens", "Limit of each answer in tokens. Likewise.").PlaceHolder("N").IntVar(&l.outputTokens)
	c.Flag("turns", "Turns of each conversation. Likewise.").PlaceHolder("N").IntVar(&l.turns)
}

// given names a flag that was given, "" for none.
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

// defaultDuration of a level, and which part of it the warm-up takes.
const (
	defaultDuration = time.Minute
	warmUpShare     = 3
)

// text is the plan file that the flags stand for. What is wrong with a value its
// reader says.
func (l *planLine) text() (string, error) {
	switch {
	case l.baseURL == "":
		return "", usagef("name the plan: --plan.file=plan.yml, or --base-url=http://127.0.0.1:8000/v1 --concurrency=10,50,100")
	case (l.concurrency == "") == (l.rate == ""):
		return "", usagef("--base-url takes either --concurrency=10,50,100 or --rate=0.5,1,2")
	case l.duration < 0 || l.warmUp < 0:
		return "", usagef("--duration and --warm-up are times: write for example 60s")
	}
	if l.duration == 0 {
		l.duration = defaultDuration
	}
	if l.keyFile != "" { // a plan file may lie elsewhere
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

// levels are those that were given. The places of a closed loop open so fast that
// the highest level stands after half of its warm-up.
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
	if half := l.warmUp.Seconds() / 2; half > 0 && highest/half > 10 { // the default
		text += fmt.Sprintf(", start_rate: %g", float64(int(highest/half)+1))
	}
	return text
}

// quoted is a text as JSON, and so YAML, has it.
func quoted(text string) string {
	data, _ := json.Marshal(text) // texts always have an encoding
	return string(data)
}
