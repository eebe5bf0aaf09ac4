package main

import (
	"bytes"
	"fmt"
	"strings"
)

// startDeployments starts a deployment for each target.
func startDeployments(targets []demoTarget) ([]*deployment, error) {
	var all []*deployment
	for _, t := range targets {
		d, err := startDeployment(t.options)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func closeAll(all []*deployment) {
	for _, d := range all {
		d.close()
	}
}

// demoConfigFor is the demo's configuration for deployments that serve at
// their addresses.
func demoConfigFor(targets []demoTarget, at []*deployment) []byte {
	var lines []string
	for i, t := range targets {
		lines = append(lines, fmt.Sprintf("{name: %s, base_url: 'http://%s/v1', server_metrics: {interval: 5s}}", t.name, at[i].addr))
	}
	return bytes.Replace(demoConfig, []byte("TARGETS"), []byte("["+strings.Join(lines, ", ")+"]"), 1)
}
