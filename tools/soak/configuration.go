//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// configurations are loaded one after the other. The calm parts use the first. Two of them
// are invalid.
func configurations() []configuration {
	return []configuration{
		{Name: "the first again", Churn: "churn-%d", Think: "100ms"},
		{Name: "targets removed", Think: "100ms"},
		{Name: "no YAML", Text: "targets: [\n"},
		{Name: "targets renamed", Churn: "renamed-%d", Think: "100ms"},
		{Name: "an unknown key", Text: "targets: [{base_url: \"http://127.0.0.1:1/v1\", modle: x}]\n"},
		{Name: "workload changed", Churn: "churn-%d", Think: "150ms"},
		{Name: "targets removed again", Think: "100ms"},
	}
}

// configuration is one configuration file. Text is the whole text of an invalid one.
type configuration struct{ Name, Churn, Think, Text string }

// settings are the values that all configurations share.
type settings struct {
	fleet           []*deployment
	keys, authority string // paths
	pager, mail     string // directory of the pager, and URL of the Alertmanager
}

// write replaces the configuration file.
func (c configuration) write(path string, s settings) error {
	text := c.Text
	if text == "" {
		text = c.text(s)
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// entry returns the target of a configuration. keys and authority are paths.
func (d *deployment) entry(name, keys, authority string) string {
	tls := ""
	if d.certificate.Load() != nil {
		tls = fmt.Sprintf(", http_client: {tls_config: {ca_file: %q}}", authority)
	}
	return fmt.Sprintf("  - {name: %s, base_url: %q, model: simulated-chat, api_key_file: %q%s}\n", name, d.url(), keys, tls)
}

func (c configuration) text(s settings) string {
	var out strings.Builder
	out.WriteString("metrics: both\ntargets:\n") // the accounts of turns need each count at once
	for i, d := range s.fleet {
		name := d.name
		if i >= kept {
			if c.Churn == "" {
				continue
			}
			name = fmt.Sprintf(c.Churn, i-kept)
		}
		out.WriteString(d.entry(name, s.keys, s.authority))
	}
	fmt.Fprintf(&out, `workloads:
  - name: chat
    turns: {min: 2, max: 2}
    prompt_tokens: 60
    starters: 3
    followups: {tokens: 10}
    max_output_tokens: 24
    think_time: {min: 0s, max: %s}
    timeouts: {first_token: 4s, stall: 3s, total: 8s}
traffic:
  - targets: "*"
    workload: chat
    arrival: {process: constant, rate: 0.25}
    max_concurrency: 8
slos:
  - {name: ttft, sli: ttft, threshold: 1s, objective: 99%%}
  - {name: availability, sli: availability, objective: 99%%}
alerting:
  alertmanagers: [{url: %q}]
  interval: 5s
  directory: %q
`, c.Think, s.mail, filepath.Clean(s.pager))
	return out.String()
}
