package demo

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"

	"synthetic/internal/sidecar/regression"
	"synthetic/internal/simulate"
)

//go:embed demo.yml
var configText []byte

// Start serves a deployment for each target on a loopback port. stop ends them,
// and requests that hang, too.
func Start(targets []Target) (addrs []string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, t := range targets {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("listening for the simulated deployment: %w", err)
		}
		addrs = append(addrs, l.Addr().String())
		stops = append(stops, simulate.Serve(l, simulate.New(t.Options)))
	}
	return addrs, stop, nil
}

// ConfigFor is the demo's configuration for deployments that serve at
// their addresses.
func ConfigFor(targets []Target, addrs []string) []byte {
	var lines []string
	for i, t := range targets {
		lines = append(lines, fmt.Sprintf("{name: %s, base_url: 'http://%s/v1', server_metrics: {interval: 5s}}", t.Name, addrs[i]))
	}
	return bytes.Replace(configText, []byte("TARGETS"), []byte("["+strings.Join(lines, ", ")+"]"), 1)
}

// baselines is a state file with what each of the demo's deployments is
// like on a day on which all is well. A new prober needs a day to learn that;
// the demo has minutes. "make demo-baselines" learns it in virtual time.
//
//go:embed baselines.json
var baselines []byte

// workload is the one workload of demo.yml.
const workload = "chat"

// Baselines are what is usual for targets, by their own names. In the state file
// they go by what is usual for them.
func Baselines(targets []Target) (regression.File, error) {
	var known, out regression.File
	if err := json.Unmarshal(baselines, &known); err != nil {
		return out, fmt.Errorf("reading the demo's baselines: %w", err)
	}
	for _, t := range targets {
		i := slices.IndexFunc(known.Jobs, func(j regression.JobState) bool { return j.Target == t.Usual })
		if i < 0 {
			return out, fmt.Errorf("there is no baseline %q for the demo's target %q; make demo-baselines", t.Usual, t.Name)
		}
		state := known.Jobs[i]
		state.Target, state.Workload = t.Name, workload
		out.Jobs = append(out.Jobs, state)
	}
	return out, nil
}
