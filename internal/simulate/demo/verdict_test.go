package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/tools/testkit/stage"
)

// trial is a fault in the demo, after pause, and the alerts that it must cause.
type trial struct {
	name   string
	target Target
	acts   []stage.Act
	// learnsBaseline says that baselines.json has no baseline for the target.
	learnsBaseline bool
	// length is the time from the start of the fault to the end of the trial.
	length time.Duration
	wants  []want
	// failsAtOnce says that turns fail without waiting, so no latency may have a regression.
	failsAtOnce bool
}

// want is an alert that must fire.
type want struct {
	// alert is a name, or several separated by "|". Empty fields match every alert.
	alert, severity, slo, part string
	// within is the longest time until it fires; 0 means the bound for the measured ratios.
	within time.Duration
}

// verdict is the result of a trial with several seeds.
type verdict struct {
	trial
	// ratios are the signals divided by their baselines, and failed is the share of failed turns. Both
	// are from the first seed.
	ratios map[string]float64
	failed float64
	// firstPages holds the first page of each seed, and found the alert of each want and seed.
	firstPages []page
	found      [][]page
	bound      time.Duration
}

// boundFor returns the longest time until a regression must page. It returns 0 if the regression is
// too small, or no turn had a latency.
func boundFor(ratios map[string]float64) time.Duration {
	ratio := 0.0
	for _, r := range ratios {
		ratio = max(ratio, r)
	}
	switch {
	case ratio >= 3:
		return 4 * time.Minute
	case ratio >= 2:
		return 6 * time.Minute
	case ratio >= 1.3:
		return smallBound
	}
	return 0
}

// judge runs a trial once per seed and checks its alerts.
func (c trial) judge(t *testing.T, seeds int) verdict {
	t.Helper()
	v := verdict{trial: c, found: make([][]page, len(c.wants))}
	baselines := c.baselines(t)
	for seed := range uint64(seeds) {
		p := c.play(t, baselines, 1+seed)
		pages := p.pages(t)
		if seed == 0 {
			stationary := pause + min(2*time.Minute, c.length/2)
			v.ratios, v.failed = p.ratios(stationary, pause+c.length), p.failed(stationary)
			v.bound = boundFor(v.ratios)
		}
		if i := slices.IndexFunc(pages, func(g page) bool { return g.severity == "page" }); i >= 0 {
			v.firstPages = append(v.firstPages, pages[i])
		}
		for _, g := range pages {
			if g.first < pause {
				t.Errorf("seed %d: before the fault, %s: %s", 1+seed, g, g.text)
			}
			if c.failsAtOnce && g.alert == "SyntheticRegression" {
				t.Errorf("seed %d: turns fail at once, but %s: %s", 1+seed, g, g.text)
			}
		}
		for i, w := range c.wants {
			v.found[i] = append(v.found[i], w.check(t, pages, v.bound))
		}
	}
	return v
}

func (c trial) baselines(t *testing.T) Baselines {
	t.Helper()
	if c.learnsBaseline {
		b := learn(t, c.target)
		b.State.Target, b.State.Workload = c.target.Name, workload
		return Baselines{b}
	}
	baselines, err := LoadBaselines([]Target{c.target})
	if err != nil {
		t.Fatal(err)
	}
	return baselines
}

// play runs a trial with a seed.
func (c trial) play(t *testing.T, baselines Baselines, seed uint64) recording {
	t.Helper()
	target := c.target
	target.Options.Seed = seed
	return demoRun{targets: []Target{target}, baselines: baselines, acts: c.acts, length: pause + c.length}.play(t)
}

// check returns the first alert that matches, and checks that it fired in time.
func (w want) check(t *testing.T, pages []page, bound time.Duration) page {
	t.Helper()
	bound = w.bound(bound)
	i := slices.IndexFunc(pages, w.matches)
	switch {
	case i < 0:
		t.Errorf("%+v did not fire; fired: %v", w, pages)
		return page{}
	case bound == 0:
		t.Errorf("the regression is too small for a bound, but %s", pages[i])
	case pages[i].first-pause > bound:
		t.Errorf("%s, %v after the start of the fault, want within %v", pages[i], pages[i].first-pause, bound)
	}
	return pages[i]
}

// bound returns the longest time until the alert fires. boundForRatios is the default.
func (w want) bound(boundForRatios time.Duration) time.Duration {
	if w.within > 0 {
		return w.within
	}
	return boundForRatios
}

func (w want) matches(g page) bool {
	return slices.Contains(strings.Split(w.alert, "|"), g.alert) &&
		(w.severity == "" || w.severity == g.severity) && (w.slo == "" || w.slo == g.slo) && (w.part == "" || w.part == g.part)
}
