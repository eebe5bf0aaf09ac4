// Package demo holds what "synthetic demo" shows: a simulated deployment, what happens to it, its
// baseline, and the configuration that probes it.
package demo

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"strings"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// About describes the deployment.
const About = "Three workers with a 70B model serve 60 conversations behind a round-robin router."

// Step is an event of the demo.
type Step struct {
	At   time.Duration // since the start
	Text string
}

const (
	hangAt, hangFor = time.Minute, 90 * time.Second
	lostAt, lostFor = hangAt + hangFor, time.Minute
	slowAt, slowFor = 6 * time.Minute, 5 * time.Minute
)

// Steps returns the events of the demo.
func Steps() []Step {
	return []Step{
		{hangAt, "one of the three workers hangs: its requests get no answer"},
		{lostAt, "the worker is lost: its requests fail, and no others go there"},
		{lostAt + lostFor, "the worker returns with an empty cache"},
		{slowAt, "prefill takes 6 times as long"},
		{slowAt + slowFor, "prefill is as fast as before"},
	}
}

// Deployment returns the options of the deployment, which also serves conversations of other clients.
func Deployment(seed uint64) simulate.Options {
	o, err := simulate.Preset("trtllm-rr")
	if err != nil {
		panic(err) // the preset is built in
	}
	o.Seed, o.Model, o.Answer, o.FirstAnswer = seed, "simulated-70b", simulate.Length{Median: 80, Sigma: 0.3}, simulate.Length{}
	o.Load = simulate.Load{Concurrency: 60, WarmUp: 2 * time.Minute}
	o.Incidents = []simulate.Incident{
		{Kind: cluster.Hang, Workers: []int{1}, At: hangAt, For: hangFor},
		{Kind: cluster.WorkerLoss, Workers: []int{1}, At: lostAt, For: lostFor},
		{Kind: cluster.SlowPrefill, Factor: 6, At: slowAt, For: slowFor},
	}
	return o
}

// Announce calls say at each step, until ctx ends.
func Announce(ctx context.Context, began time.Time, say func(string)) {
	for _, step := range Steps() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(began.Add(step.At))):
		}
		say("now: " + step.Text)
	}
}

// Start serves a deployment on a loopback port. stop also ends requests that hang.
func Start(o simulate.Options) (addr string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening for the simulated deployment: %w", err)
	}
	return l.Addr().String(), simulate.Serve(l, simulate.New(o)), nil
}

//go:embed demo.yml
var configText string

// Config returns the configuration for a deployment at an address.
func Config(addr string) []byte {
	return []byte(strings.Replace(configText, "127.0.0.1:8000", addr, 1))
}
