// Package demo holds what "synthetic demo" shows: simulated deployments, what happens to them, their
// baselines, and the configuration that probes them.
package demo

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/slo"
)

// Scenario is a choice of --scenario.
type Scenario struct {
	Name, About string
	Targets     []Target
	Steps       []Step
}

// Target is a simulated deployment that the demo probes. Baseline names its entry in baselines.json.
type Target struct {
	Name, Baseline string
	Options        simulate.Options
}

// Step is an event of a scenario.
type Step struct {
	At   time.Duration // since the start
	Text string
}

// pause is the time of normal operation before the first event.
const pause = time.Minute

// Names returns the names of all scenarios, the default first.
func Names() []string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// Named returns a scenario whose deployments have a seed.
func Named(name string, seed uint64) (Scenario, error) {
	for _, s := range scenarios() {
		if s.Name != name {
			continue
		}
		for i := range s.Targets {
			s.Targets[i].Options.Seed = seed
		}
		return s, nil
	}
	return Scenario{}, fmt.Errorf("--scenario=%s: there is no such scenario; give one of %s", name, strings.Join(Names(), ", "))
}

// busyTarget returns a deployment that also serves conversations of other clients.
func busyTarget(name, preset string, conversations int) Target {
	o := mustPreset(preset)
	o.Model, o.Answer, o.FirstAnswer = "simulated-70b", simulate.Length{Median: 80, Sigma: 0.3}, simulate.Length{}
	o.Load = simulate.Load{Concurrency: conversations, WarmUp: 2 * time.Minute}
	return Target{name, fmt.Sprintf("%s-%d", preset, conversations), o}
}

func mustPreset(name string) simulate.Options {
	o, err := simulate.Preset(name)
	if err != nil {
		panic(err)
	}
	return o
}

func scenarios() []Scenario {
	oneGPU := func() []Target { return []Target{busyTarget("demo", "phase0", 34)} }
	drafter := oneGPU()
	drafter[0].Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("eagle3").Cluster}}
	return []Scenario{{
		Name: "healthy", About: "One GPU with a 70B model serves about 45 conversations. Nothing goes wrong.",
		Targets: oneGPU(),
	}, Scenario{
		Name: "regression", About: "One GPU with a 70B model. After a minute prompts take longer, so first tokens arrive later.",
		Targets: oneGPU(),
	}.withIncident("prefill takes 6 times as long for 10m",
		simulate.Incident{Kind: cluster.SlowPrefill, Factor: 6, At: pause, For: 10 * time.Minute},
	), {
		Name: "eagle3", About: "One GPU with a 70B model. After a minute speculative decoding is rolled out, and almost no draft is accepted.",
		Targets: drafter,
		Steps:   []Step{{pause, "speculative decoding is rolled out: a drafter, at most 64 sequences per batch, a cold cache"}},
	}, Scenario{
		Name: "outage", About: "Three workers behind a round-robin router. One hangs, is lost and returns. Later a fifth of the requests fail.",
		Targets: []Target{busyTarget("demo", "trtllm-rr", 60)},
	}.withIncident("worker 1 hangs for 1m30s: its requests get no answer",
		simulate.Incident{Kind: cluster.Hang, Workers: []int{1}, At: pause, For: 90 * time.Second},
	).withIncident("worker 1 is lost for 1m: its requests fail, and no others go there",
		simulate.Incident{Kind: cluster.WorkerLoss, Workers: []int{1}, At: pause + 90*time.Second, For: time.Minute},
	).withIncident("20 % of the requests get status 500 for 2m",
		simulate.Incident{Kind: simulate.ErrorStatus, Share: .2, At: pause + 4*time.Minute, For: 2 * time.Minute},
	), {
		Name: "kv-vs-rr", About: "Two deployments of three workers each under the same load: one with KV-aware routing, one with round robin.",
		Targets: []Target{busyTarget("kv-aware", "trtllm-kv", 80), busyTarget("round-robin", "trtllm-rr", 80)},
	}}
}

// withIncident adds an incident of the first target, and its steps.
func (s Scenario) withIncident(text string, i simulate.Incident) Scenario {
	o := &s.Targets[0].Options
	o.Incidents = append(o.Incidents, i)
	s.Steps = append(s.Steps, Step{i.At, text}, Step{i.At + i.For, incidentEnds})
	slices.SortStableFunc(s.Steps, byTime)
	return s
}

const incidentEnds = "the incident ends"

// notice is how long before a step the demo announces it.
const notice = 20 * time.Second

// Announce calls say before and at each step, until ctx ends.
func (s Scenario) Announce(ctx context.Context, began time.Time, say func(string)) {
	var all []Step
	for _, step := range s.Steps {
		if step.Text != incidentEnds {
			all = append(all, Step{step.At - notice, fmt.Sprintf("in %s: %s", slo.FormatDuration(notice), step.Text)})
		}
		all = append(all, Step{step.At, "now: " + step.Text})
	}
	slices.SortStableFunc(all, byTime)
	for _, step := range all {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(began.Add(step.At))):
		}
		say(step.Text)
	}
}

func byTime(a, b Step) int { return cmp.Compare(a.At, b.At) }

// Start serves the deployments of targets on loopback ports. stop also ends requests that hang.
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

//go:embed demo.yml
var configText []byte

// ConfigFor returns the configuration for deployments at their addresses.
func ConfigFor(targets []Target, addrs []string) []byte {
	out, _, _ := bytes.Cut(configText, []byte("targets:\n"))
	out = append(bytes.Clone(out), "targets:\n"...)
	for i, t := range targets {
		out = fmt.Appendf(out, "  - {name: %s, base_url: 'http://%s/v1', server_metrics: {}}\n", t.Name, addrs[i])
	}
	return out
}
