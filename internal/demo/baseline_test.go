package demo

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
)

// learnSeed is of deployments that are learned from, and of none that is judged.
const learnSeed = 20000

var learn = flag.String("learn", "", "file for what the demo's deployments are like on a day on which all is well")

// TestLearnBaselines writes, with -learn=FILE, the baselines that the demo
// starts with: some hours of each of its deployments, in virtual time.
func TestLearnBaselines(t *testing.T) {
	if *learn == "" {
		t.Skip("hours of each deployment take a minute: make demo-baselines")
	}
	var file regression.File
	for _, target := range healthyTargets() {
		state := usualFor(t, target, 4).Jobs[0]
		state.Target = target.Usual
		file.Jobs = append(file.Jobs, state)
	}
	if err := file.WriteFile(*learn); err != nil {
		t.Fatal(err)
	}
}

// TestDemoBaselinesAreThose checks that what the demo starts with is what its
// deployments are like, and that there is nothing else in the file.
func TestDemoBaselinesAreThose(t *testing.T) {
	var file regression.File
	if err := json.Unmarshal(baselines, &file); err != nil {
		t.Fatal(err)
	}
	targets := healthyTargets()
	if len(file.Jobs) != len(targets) {
		t.Errorf("there are %d baselines for %d deployments; make demo-baselines", len(file.Jobs), len(targets))
	}
	for i, target := range targets {
		t.Run(target.Usual, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("one deployment is enough for a quick run; make test-long runs all")
			}
			t.Parallel()
			usual, err := Baselines([]Target{target})
			if err != nil {
				t.Fatal(err)
			}
			p := demoRun{targets: []Target{target}, baselines: usual, length: 6 * time.Minute}.play(t)
			for what, ratio := range p.ratios(2*time.Minute, 6*time.Minute) {
				if ratio < 0.93 || ratio > 1.07 {
					t.Errorf("%s is %.3f times its baseline while all is well; make demo-baselines", what, ratio)
				}
			}
		})
	}
}

// usualFor is what some hours of a target teach, laid out as a day of such half
// hours: a baseline is young before it has a day, and these deployments do not
// change.
func usualFor(t *testing.T, target Target, hours time.Duration) regression.File {
	t.Helper()
	target.Options.Incidents, target.Options.Rollouts, target.Options.Seed = nil, nil, learnSeed
	g := demoRun{targets: []Target{target}, length: hours*time.Hour + 2*time.Minute, every: 10 * time.Minute, unseen: true}
	g.baselines = asDay(g.play(t).learned)
	g.length = 10 * time.Minute // in which the usual parts are learned even where the SLO is missed as a rule
	return asDay(g.play(t).learned)
}

// asDay lays the half hours of the one job of a file out as a day.
func asDay(f regression.File) regression.File {
	state := &f.Jobs[0]
	for i := range state.Series {
		s := &state.Series[i] // without its sums, which are of the moment
		*s = regression.SeriesState{Kind: s.Kind, Signal: s.Signal, Gap: s.Gap, Slots: wholeDay(s.Slots)}
	}
	var cached []regression.SlotState
	for kind := range len(probe.TurnKinds()) {
		cached = append(cached, wholeDay(slices.DeleteFunc(slices.Clone(state.Cached), func(s regression.SlotState) bool { return s.Kind != kind }))...)
	}
	state.Cached = cached
	return f
}

// wholeDay repeats half hours until they make a day.
func wholeDay(measured []regression.SlotState) []regression.SlotState {
	var out []regression.SlotState
	for slot := range int(24 * time.Hour / regression.BlockLength) {
		if len(measured) > 0 {
			one := measured[slot%len(measured)]
			one.Slot = slot
			out = append(out, one)
		}
	}
	return out
}

// healthyTargets are the deployments of all scenarios with nothing that
// happens to them, one for each baseline.
func healthyTargets() []Target {
	var out []Target
	for _, s := range scenarios() {
		for _, target := range s.Targets {
			target.Options.Incidents, target.Options.Rollouts = nil, nil
			if !slices.ContainsFunc(out, func(o Target) bool { return o.Usual == target.Usual }) {
				out = append(out, target)
			}
		}
	}
	slices.SortFunc(out, func(a, b Target) int { return strings.Compare(a.Usual, b.Usual) })
	return out
}
