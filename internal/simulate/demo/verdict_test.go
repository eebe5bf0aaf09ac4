package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/tools/testkit/stage"
)

// trial is something that goes wrong in the demo once pause is over, and
// what a person has to be told of it.
type trial struct {
	name   string
	target Target
	acts   []stage.Act
	// learns says that the demo starts with no baseline for the target.
	learns bool
	// lasts is how long the fault is watched.
	lasts time.Duration
	wants []want
	// outright says that turns fail without a wait, which is no regression of any
	// latency.
	outright bool
}

// want is an alert that has to fire.
type want struct {
	// alert is its name, or several with "|" between them; severity, slo and part
	// are "" where any will do.
	alert, severity, slo, part string
	// within is after how long; 0 means the bound for the measured size.
	within time.Duration
}

// verdict is what came of a trial, over some seeds.
type verdict struct {
	trial
	// ratios are by how much the signals changed, failed is the share of turns
	// that failed, of the first seed.
	ratios map[string]float64
	failed float64
	// paged is when the first page came, by seed, and told when each want did.
	paged []page
	told  [][]page
	bound time.Duration
}

// boundFor is within which time a regression of a size has to page: 0 for one
// that is too small to have to, and where no turn had a latency.
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
		return riseBound
	}
	return 0
}

// judge plays a trial once for each seed and holds it to its wants.
func (c trial) judge(t *testing.T, seeds int) verdict {
	t.Helper()
	v := verdict{trial: c, told: make([][]page, len(c.wants))}
	usual := c.usual(t)
	for seed := range uint64(seeds) {
		p := c.play(t, usual, 1+seed)
		pages := p.pages(t)
		if seed == 0 {
			settled := pause + min(2*time.Minute, c.lasts/2)
			v.ratios, v.failed = p.ratios(settled, pause+c.lasts), p.failed(settled)
			v.bound = boundFor(v.ratios)
		}
		if i := slices.IndexFunc(pages, func(g page) bool { return g.severity == "page" }); i >= 0 {
			v.paged = append(v.paged, pages[i])
		}
		for _, g := range pages {
			if g.first < pause {
				t.Errorf("seed %d: before anything is wrong, %s: %s", 1+seed, g, g.text)
			}
			if c.outright && g.alert == "SyntheticRegression" {
				t.Errorf("seed %d: turns fail and are not slower, but %s: %s", 1+seed, g, g.text)
			}
		}
		for i, w := range c.wants {
			v.told[i] = append(v.told[i], w.check(t, pages, v.bound))
		}
	}
	return v
}

// usual are the baselines of a trial.
func (c trial) usual(t *testing.T) Usual {
	t.Helper()
	if c.learns {
		one := learnedOf(t, c.target)
		one.State.Target, one.State.Workload = c.target.Name, workload
		return Usual{one}
	}
	usual, err := Baselines([]Target{c.target})
	if err != nil {
		t.Fatal(err)
	}
	return usual
}

// play plays a trial with a seed.
func (c trial) play(t *testing.T, usual Usual, seed uint64) played {
	t.Helper()
	target := c.target
	target.Options.Seed = seed
	return demoRun{targets: []Target{target}, baselines: usual, acts: c.acts, length: pause + c.lasts}.play(t)
}

// check returns the first alert that is wanted.
func (w want) check(t *testing.T, pages []page, bound time.Duration) page {
	t.Helper()
	bound = w.bound(bound)
	i := slices.IndexFunc(pages, w.is)
	switch {
	case i < 0:
		t.Errorf("%+v did not fire; fired: %v", w, pages)
		return page{}
	case bound == 0:
		t.Errorf("the change is too small for a bound, but %s", pages[i])
	case pages[i].first-pause > bound:
		t.Errorf("%s, %v after it began, want within %v", pages[i], pages[i].first-pause, bound)
	}
	return pages[i]
}

// bound is within which time the alert has to come, where the change has a bound.
func (w want) bound(ofChange time.Duration) time.Duration {
	if w.within > 0 {
		return w.within
	}
	return ofChange
}

// is says that an alert is the wanted one.
func (w want) is(g page) bool {
	return slices.Contains(strings.Split(w.alert, "|"), g.alert) &&
		(w.severity == "" || w.severity == g.severity) && (w.slo == "" || w.slo == g.slo) && (w.part == "" || w.part == g.part)
}
