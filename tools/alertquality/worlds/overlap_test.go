package worlds

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/backtest"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// cause is a fault with the targets that have it. Targets with a shared fault have one page together.
type cause struct {
	Injection
	targets []int
	// within is how soon its page must begin, keep how long it may last after the fault.
	within, keep time.Duration
	// known is true if another number of pages than one is a known mistake. Refusals for load page after
	// a quarter of an hour, so the page of a shared fault may hold theirs back. A slow replica pages
	// again half an hour after its end in two of 24 worlds.
	known bool
}

func (c cause) shared() bool { return len(c.targets) > 1 }

// The page of an outage ends within two minutes of the second good turn, which comes up to a minute after
// the fault. Pages of regressions and of slow replicas last until the scores have fallen, and then four
// minutes. If SyntheticSLOFastBurn joined them, its short window of half an hour and 15 minutes more count.
const (
	targetsOfWorld = 12
	replicasOfPool = 4
	calmTime       = 45 * time.Minute
	warmUpTime     = 36 * time.Hour
)

// overlappingFaults draws ten faults of twelve targets.
func overlappingFaults(seed uint64) []cause {
	rng := rand.New(rand.NewPCG(seed, 24))
	minutes := func(low, high float64) time.Duration {
		return time.Duration(uniform(rng, low, high) * float64(time.Minute)).Truncate(time.Second)
	}
	// The first targets are the replicas of a pool, one of which is slow.
	pool, rest := rng.Perm(replicasOfPool), rng.Perm(targetsOfWorld-replicasOfPool)
	for i := range rest {
		rest[i] += replicasOfPool
	}
	singles := []cause{
		{Injection: Injection{Fault: Fault{Name: "hang", Kind: Hang}}, within: 150 * time.Second, keep: 3 * time.Minute},
		{Injection: Injection{Fault: Fault{Name: "http_404", Kind: Outage, refusal: probe.HTTP4xx}}, within: 150 * time.Second, keep: 3 * time.Minute},
		{Injection: Injection{Fault: Fault{Name: "slow", Kind: Slow, Size: uniform(rng, 2.5, 4)}}, within: 10 * time.Minute, keep: 20 * time.Minute},
		{Injection: Injection{Fault: Fault{Name: "saturated", Kind: Slow, Size: uniform(rng, 6, 12), Ramp: 4 * time.Minute, refusal: probe.HTTP429, refused: 0.1}}, within: 10 * time.Minute, keep: 45 * time.Minute},
		{Injection: Injection{Fault: Fault{Name: "http_429", Kind: Outage, refusal: probe.HTTP429}}, within: 75 * time.Minute, keep: 15 * time.Minute, known: true},
	}
	rng.Shuffle(len(singles), func(i, j int) { singles[i], singles[j] = singles[j], singles[i] })
	begin := warmUpTime + calmTime
	var out []cause
	add := func(c cause, targets []int, from, length time.Duration) cause {
		c.targets, c.From, c.To = targets, from, from+length
		out = append(out, c)
		return c
	}
	// Three faults last while the first shared fault begins, and the others while the second does.
	// Single faults begin at least three minutes apart: four that are paged within two minutes are, to the
	// rules, a shared fault.
	slots := rng.Perm(4)
	onset := func(i int) time.Duration { return time.Duration(slots[i])*5*time.Minute + minutes(0, 2) }
	for i, c := range singles[:3] {
		add(c, rest[i:i+1], begin+onset(i), minutes(40, 60))
	}
	again := cause{Injection: Injection{Fault: Fault{Name: "http_500", Kind: Outage}}, within: 150 * time.Second, keep: 3 * time.Minute}
	again = add(again, rest[3:4], begin+onset(3), minutes(5, 8))
	add(again, rest[3:4], again.To+3*time.Minute, minutes(5, 8))

	shared := cause{Injection: Injection{Fault: Fault{Name: "shared outage", Kind: Outage, refusal: probe.ConnectError}}, within: 150 * time.Second, keep: 4 * time.Minute}
	shared = add(shared, slices.Clone(rest[4:]), begin+minutes(30, 35), minutes(6, 12))
	refused := cause{Injection: Injection{Fault: Fault{Name: "connect_error", Kind: Outage, refusal: probe.ConnectError}}, within: 150 * time.Second, keep: 3 * time.Minute}
	add(refused, rest[4:5], shared.To+minutes(0.7, 2), minutes(20, 40))

	second := begin + 100*time.Minute
	for i, c := range singles[3:] {
		add(c, rest[4+i:5+i], second+onset(i), minutes(50, 70))
	}
	replica := cause{Injection: Injection{Fault: Fault{Name: "slow replica", Kind: Slow, Size: uniform(rng, 2.5, 4)}}, within: 15 * time.Minute, keep: 45 * time.Minute, known: true}
	add(replica, pool[:1], second+onset(2), minutes(50, 70))
	slower := cause{Injection: Injection{Fault: Fault{Name: "shared slowness", Kind: Slow, Size: uniform(rng, 3, 5)}}, within: 10 * time.Minute, keep: 20 * time.Minute}
	add(slower, append(slices.Clone(rest[:4]), rest[7]), second+minutes(25, 30), minutes(15, 25))
	return out
}

func nameOf(target int) string { return fmt.Sprintf("t%02d", target) }

// worldOfFaults returns the deployments of a seed. Their parameters are drawn, too, so that they are not
// the ones on which the constants of the detection were chosen.
func worldOfFaults(seed uint64, causes []cause) []Deployment {
	rng := rand.New(rand.NewPCG(seed, 25))
	var out []Deployment
	pool := drawnModel(rng)
	for i := range targetsOfWorld {
		d := Deployment{Target: nameOf(i), Model: drawnModel(rng), Seed: seed<<8 + uint64(i)}
		if i < replicasOfPool {
			d.Service, d.Model = "pool", pool
		}
		for _, c := range causes {
			if slices.Contains(c.targets, i) {
				d.Injections = append(d.Injections, c.Injection)
			}
		}
		slices.SortFunc(d.Injections, func(a, b Injection) int { return int(a.From - b.From) })
		out = append(out, d)
	}
	return out
}

func drawnModel(rng *rand.Rand) Model {
	m := baseModel("drawn", "")
	m.FirstTTFT = time.Duration(uniform(rng, 100, 400)) * time.Millisecond
	m.FollowupTTFT = m.FirstTTFT / 2
	m.TPOT = time.Duration(uniform(rng, 10, 35)) * time.Millisecond
	m.Sigma, m.PaceSigma, m.LevelSD = uniform(rng, 0.2, 0.4), uniform(rng, 0.08, 0.15), uniform(rng, 0.02, 0.06)
	m.TTFTObjective = time.Second
	return m
}

// pagesOf simulates a world and returns its pages, as an Alertmanager with the shipped inhibitions sends
// them.
func pagesOf(t *testing.T, seed uint64, causes []cause) []backtest.Page {
	t.Helper()
	length := warmUpTime + calmTime
	for _, c := range causes {
		length = max(length, c.To)
	}
	length += 2 * calmTime
	in := rules.Input{SLOs: backtest.Objectives()}
	in.TargetLabels = []string{metrics.LabelService}
	deployments := worldOfFaults(seed, causes)
	for _, d := range deployments {
		in.Jobs = append(in.Jobs, d.RulesJob())
	}
	files, err := backtest.RuleFiles(&in, nil, false, backtest.RuleOptions{Interval: 15 * time.Second, Severities: []string{"page"}})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := backtest.LoadRuleFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	sim := NewSimulation(SimulationOptions{Deployments: deployments, Start: epoch(), Length: length, BurstRate: 0.2})
	from := warmUpTime - time.Hour
	sim.WarmUp(from)
	spans, err := backtest.Replay(t.Context(), sim, sets, epoch().Add(from), epoch().Add(length))
	if err != nil {
		t.Fatal(err)
	}
	outcome := backtest.Outcome{Spans: spans}
	return backtest.ScoreSets("", sets, nil, []backtest.Outcome{outcome})[0].Pages
}

var overlapSeeds = flag.Uint64("seeds", 3, "seeds of TestOverlappingFaults; each takes 16 seconds of CPU")

// TestOverlappingFaults: of ten faults that overlap in a fleet of twelve targets, each has exactly one page.
// It comes in time, ends soon after its fault, and no page has no fault.
func TestOverlappingFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates two days of twelve targets; make test-long runs it")
	}
	for seed := range *overlapSeeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			if seed == 23 {
				t.Skip("known: three targets are down 15 seconds before the fourth has two failures, so four pages report the shared outage")
			}
			causes := overlappingFaults(seed)
			pages := pagesOf(t, seed, causes)
			var wrong []string
			for _, c := range causes {
				wrong = append(wrong, c.judge(causes, pages)...)
			}
			for _, p := range pages {
				if !slices.ContainsFunc(causes, func(c cause) bool { return c.explains(p) }) {
					wrong = append(wrong, "no fault explains "+pageText(p))
				}
			}
			if len(wrong) > 0 {
				t.Errorf("%s\n%s", strings.Join(wrong, "\n"), timetable(causes, pages))
			}
		})
	}
}

// explains reports whether a page may be about the cause: it begins while the fault lasts, or while a page
// about it may last.
func (c cause) explains(p backtest.Page) bool {
	at := p.Start.Sub(epoch())
	about := p.Target == "" && c.shared() || slices.ContainsFunc(c.targets, func(i int) bool { return nameOf(i) == p.Target })
	return about && at >= c.From && at < c.To+c.keep
}

// judge says what is wrong with the pages about the cause. A page that begins after the fault is about
// another cause, if there is one.
func (c cause) judge(causes []cause, pages []backtest.Page) []string {
	about := slices.DeleteFunc(slices.Clone(pages), func(p backtest.Page) bool {
		return !c.explains(p) || p.Start.Sub(epoch()) >= c.To && slices.ContainsFunc(causes, func(o cause) bool {
			return o.From > c.From && o.explains(p)
		})
	})
	var wrong []string
	if c.known && len(about) != 1 {
		return nil
	}
	if len(about) != 1 {
		wrong = append(wrong, fmt.Sprintf("%s: %d pages, want one", c, len(about)))
	}
	for _, p := range about {
		if late := p.Start.Sub(epoch()) - c.From; late > c.within {
			wrong = append(wrong, fmt.Sprintf("%s: paged after %s, want %s", c, late, c.within))
		}
		if old := p.End.Sub(epoch()) - c.To; old > c.keep {
			wrong = append(wrong, fmt.Sprintf("%s: the page lasts for %s after the fault, want %s", c, old, c.keep))
		}
	}
	return wrong
}

// sinceCalm is a time after the end of the warm-up.
func sinceCalm(d time.Duration) string { return (d - warmUpTime).Truncate(time.Second).String() }

func (c cause) String() string {
	return fmt.Sprintf("%s of %v", c.Fault.Name, c.targets)
}

func pageText(p backtest.Page) string {
	return fmt.Sprintf("%-5s %-60s %9s – %9s", p.Target, strings.Join(p.Alerts, " "), sinceCalm(p.Start.Sub(epoch())), sinceCalm(p.End.Sub(epoch())))
}

// timetable lists all faults and pages.
func timetable(causes []cause, pages []backtest.Page) string {
	var b strings.Builder
	for _, c := range causes {
		fmt.Fprintf(&b, "fault %-60s %9s – %9s\n", c, sinceCalm(c.From), sinceCalm(c.To))
	}
	for _, p := range pages {
		fmt.Fprintf(&b, "page  %s\n", pageText(p))
	}
	return b.String()
}
