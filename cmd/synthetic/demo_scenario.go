package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/slo"
)

// scenario is what "synthetic demo" shows.
type scenario struct {
	name, about string
	targets     []demoTarget
	steps       []step
}

// demoTarget is a simulated deployment that the demo probes. While all is well
// it is as the one whose baseline demo_baselines.json has under usual.
type demoTarget struct {
	name, usual string
	options     simulate.Options
}

// step is something that happens, in words.
type step struct {
	at   time.Duration // after the start
	text string
}

// demoPause is how long a scenario leaves a newcomer to see what is normal.
const demoPause = time.Minute

// scenarios lists what the demo can show, the default first.
func scenarios() []scenario {
	return []scenario{
		healthy(), slowed(), drafter(), outage(), routers(),
	}
}

// scenarioNames lists the names of scenarios.
func scenarioNames() []string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	return names
}

// scenarioNamed returns a scenario whose deployments have a seed.
func scenarioNamed(name string, seed uint64) (scenario, error) {
	for _, s := range scenarios() {
		if s.name != name {
			continue
		}
		for i := range s.targets {
			s.targets[i].options.Seed = seed
		}
		return s, nil
	}
	return scenario{}, usagef("--scenario=%s: there is no such scenario; give one of %s", name, strings.Join(scenarioNames(), ", "))
}

// busy is a simulated deployment with other clients' conversations on it.
func busy(name, preset string, conversations int) demoTarget {
	config := mustPreset(preset)
	return demoTarget{name, fmt.Sprintf("%s-%d", preset, conversations), simulate.Options{
		Model: "simulated-70b", Cluster: &config,
		Answer: simulate.Length{Median: 80, Sigma: 0.3},
		Load:   simulate.Load{Concurrency: conversations, WarmUp: 2 * time.Minute},
	}}
}

// mustPreset returns a preset that is known to exist.
func mustPreset(name string) cluster.Config {
	c, err := cluster.Preset(name)
	if err != nil {
		panic(err)
	}
	return c
}

func healthy() scenario {
	return scenario{
		name: "healthy", about: "One GPU with a 70B model answers some 45 conversations, and all is well.",
		targets: []demoTarget{busy("demo", "phase0", 34)},
	}
}

func slowed() scenario {
	s := scenario{
		name: "regression", about: "One GPU with a 70B model, all well at first. Then prompts take longer, and first tokens come late.",
		targets: []demoTarget{busy("demo", "phase0", 34)},
	}
	return s.with(simulate.Incident{Kind: simulate.SlowPrefill, Factor: 6, At: demoPause, For: 10 * time.Minute})
}

func drafter() scenario {
	t := busy("demo", "phase0", 34)
	t.options.Rollouts = []simulate.Rollout{{At: demoPause, Cluster: mustPreset("eagle3")}}
	return scenario{
		name: "eagle3", about: "One GPU with a 70B model. Then speculative decoding is rolled out, and hardly a draft is accepted.",
		targets: []demoTarget{t},
		steps:   []step{{demoPause, "speculative decoding is rolled out: a drafter, at most 64 sequences at once, a cold cache"}},
	}
}

func outage() scenario {
	s := scenario{
		name: "outage", about: "Three workers behind a round-robin router. One hangs, is lost and comes back; then errors come.",
		targets: []demoTarget{busy("demo", "trtllm-rr", 60)},
	}
	return s.with(
		simulate.Incident{Kind: simulate.WorkerHang, Workers: []int{1}, At: demoPause, For: 90 * time.Second},
		simulate.Incident{Kind: simulate.WorkerLoss, Workers: []int{1}, At: demoPause + 90*time.Second, For: time.Minute},
		simulate.Incident{Kind: simulate.ErrorStatus, Share: .2, At: demoPause + 4*time.Minute, For: 2 * time.Minute},
	)
}

func routers() scenario {
	return scenario{
		name: "kv-vs-rr", about: "Two deployments of three workers each under the same load. One routes by what is cached, one in turn.",
		targets: []demoTarget{busy("kv-aware", "trtllm-kv", 80), busy("round-robin", "trtllm-rr", 80)},
	}
}

// with lets incidents happen to the first target.
func (s scenario) with(incidents ...simulate.Incident) scenario {
	s.targets[0].options.Incidents = incidents
	for _, i := range incidents {
		s.steps = append(s.steps, step{i.At, i.String()})
		if i.For > 0 {
			s.steps = append(s.steps, step{i.At + i.For, overText})
		}
	}
	slices.SortStableFunc(s.steps, func(a, b step) int { return int(a.at - b.at) })
	return s
}

// plan lists what will happen.
func (s scenario) plan() string {
	var b strings.Builder
	b.WriteString(s.about + "\n\n")
	for _, step := range s.steps {
		fmt.Fprintf(&b, "  after %-8s %s\n", slo.Short(step.at), step.text)
	}
	if len(s.steps) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// overText ends an incident.
const overText = "that is over"

// notice is how long before a step the demo says what comes.
const notice = 20 * time.Second

// tell says what comes and what happens, until ctx is done.
func (s scenario) tell(ctx context.Context, began time.Time, say func(string)) {
	for _, step := range s.steps {
		if step.text != overText {
			if !until(ctx, began.Add(step.at-notice)) {
				return
			}
			say(fmt.Sprintf("in %s: %s", slo.Short(notice), step.text))
		}
		if !until(ctx, began.Add(step.at)) {
			return
		}
		say("now: " + step.text)
	}
}

// until waits for a time; false when ctx ended before.
func until(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
