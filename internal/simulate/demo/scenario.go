// Package demo is what "synthetic demo" shows: simulated deployments, what
// happens to them, what is usual for them, and the configuration that probes
// them.
package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/slo"
)

// Scenario is what "synthetic demo" shows.
type Scenario struct {
	Name, About string
	Targets     []Target
	Steps       []Step
}

// Target is a simulated deployment that the demo probes. While all is well
// it is as the one whose baseline baselines.json has under usual.
type Target struct {
	Name, Usual string
	Options     simulate.Options
}

// Step is something that happens, in words.
type Step struct {
	At   time.Duration // after the start
	Text string
}

// pause is how long a scenario leaves a newcomer to see what is normal.
const pause = time.Minute

// Names lists the names of scenarios.
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

// Busy is a simulated deployment with other clients' conversations on it.
func Busy(name, preset string, conversations int) Target {
	o := mustPreset(preset)
	o.Model, o.Answer = "simulated-70b", simulate.Length{Median: 80, Sigma: 0.3}
	o.Load = simulate.Load{Concurrency: conversations, WarmUp: 2 * time.Minute}
	return Target{name, fmt.Sprintf("%s-%d", preset, conversations), o}
}

// mustPreset returns a preset that is known to exist.
func mustPreset(name string) simulate.Options {
	o, err := simulate.Preset(name)
	if err != nil {
		panic(err)
	}
	return o
}

// scenarios lists what the demo can show, the default first.
func scenarios() []Scenario {
	one := func() []Target { return []Target{Busy("demo", "phase0", 34)} }
	drafter := one()
	drafter[0].Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("eagle3").Cluster}}
	return []Scenario{{
		Name: "healthy", About: "One GPU with a 70B model answers some 45 conversations, and all is well.",
		Targets: one(),
	}, Scenario{
		Name: "regression", About: "One GPU with a 70B model, all well at first. Then prompts take longer, and first tokens come late.",
		Targets: one(),
	}.with(
		simulate.Incident{Kind: cluster.SlowPrefill, Factor: 6, At: pause, For: 10 * time.Minute},
	), {
		Name: "eagle3", About: "One GPU with a 70B model. Then speculative decoding is rolled out, and hardly a draft is accepted.",
		Targets: drafter,
		Steps:   []Step{{pause, "speculative decoding is rolled out: a drafter, at most 64 sequences at once, a cold cache"}},
	}, Scenario{
		Name: "outage", About: "Three workers behind a round-robin router. One hangs, is lost and comes back; then errors come.",
		Targets: []Target{Busy("demo", "trtllm-rr", 60)},
	}.with(
		simulate.Incident{Kind: cluster.Hang, Workers: []int{1}, At: pause, For: 90 * time.Second},
		simulate.Incident{Kind: cluster.WorkerLoss, Workers: []int{1}, At: pause + 90*time.Second, For: time.Minute},
		simulate.Incident{Kind: simulate.ErrorStatus, Share: .2, At: pause + 4*time.Minute, For: 2 * time.Minute},
	), {
		Name: "kv-vs-rr", About: "Two deployments of three workers each under the same load. One routes by what is cached, one in turn.",
		Targets: []Target{Busy("kv-aware", "trtllm-kv", 80), Busy("round-robin", "trtllm-rr", 80)},
	}}
}

// with lets incidents happen to the first target.
func (s Scenario) with(incidents ...simulate.Incident) Scenario {
	s.Targets[0].Options.Incidents = incidents
	for _, i := range incidents {
		s.Steps = append(s.Steps, Step{i.At, i.String()})
		if i.For > 0 {
			s.Steps = append(s.Steps, Step{i.At + i.For, overText})
		}
	}
	slices.SortStableFunc(s.Steps, byTime)
	return s
}

// overText ends an incident.
const overText = "that is over"

// notice is how long before a step the demo says what comes.
const notice = 20 * time.Second

// Tell says what comes and what happens, each at its time, until ctx is done.
func (s Scenario) Tell(ctx context.Context, began time.Time, say func(string)) {
	var all []Step
	for _, step := range s.Steps {
		if step.Text != overText {
			all = append(all, Step{step.At - notice, fmt.Sprintf("in %s: %s", slo.FormatDuration(notice), step.Text)})
		}
		all = append(all, Step{step.At, "now: " + step.Text})
	}
	slices.SortStableFunc(all, byTime)
	for _, step := range all {
		if !until(ctx, began.Add(step.At)) {
			return
		}
		say(step.Text)
	}
}

func byTime(a, b Step) int { return cmp.Compare(a.At, b.At) }

// until waits for a time; false when ctx ended before.
func until(ctx context.Context, at time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(at)):
		return true
	}
}
