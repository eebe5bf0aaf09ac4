package slo

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// pager evaluates the paging tiers of a plan for each minute, as the rules do.
type pager struct {
	objective  Objective
	tiers      []Tier
	turns, bad []int // running totals, by minute
}

func (p *pager) minute(turns, bad int) {
	p.turns = append(p.turns, p.turns[len(p.turns)-1]+turns)
	p.bad = append(p.bad, p.bad[len(p.bad)-1]+bad)
}

// lastTurns returns the numbers of turns and bad turns in the last d.
func (p *pager) lastTurns(d time.Duration) (turns, bad int) {
	now := len(p.turns) - 1
	then := max(0, now-int(d.Minutes()))
	return p.turns[now] - p.turns[then], p.bad[now] - p.bad[then]
}

func (p *pager) fires() bool {
	return slices.ContainsFunc(p.tiers, func(x Tier) bool {
		return p.above(x, x.Long, x.MinBadLong) && p.above(x, x.Short, x.MinBadShort)
	})
}

func (p *pager) above(x Tier, window time.Duration, minBad int) bool {
	turns, bad := p.lastTurns(window)
	return turns > 0 && bad >= minBad && float64(bad)/float64(turns) > x.Burn*p.objective.Budget()
}

func newPager(o Objective, tiers []Tier) *pager {
	tiers = slices.DeleteFunc(slices.Clone(tiers), func(x Tier) bool { return x.Severity != Page })
	return &pager{objective: o, tiers: tiers, turns: []int{0}, bad: []int{0}}
}

// draw returns random numbers of turns and bad turns for one minute.
func draw(rng *rand.Rand, perMinute, badShare float64) (turns, bad int) {
	// A binomial distribution of many small trials approximates a Poisson one.
	for range 100 {
		if rng.Float64() < perMinute/100 {
			turns++
			if rng.Float64() < badShare {
				bad++
			}
		}
	}
	return turns, bad
}

// pagesByChance counts the pages within a number of days at a constant share of bad turns. Like
// in the rules, a page ends 15 minutes after its condition.
func pagesByChance(rng *rand.Rand, p *pager, days int, perMinute, badShare float64) int {
	pages, quiet := 0, 15
	for range days * 24 * 60 {
		p.minute(draw(rng, perMinute, badShare))
		if !p.fires() {
			quiet++
			continue
		}
		if quiet >= 15 {
			pages++
		}
		quiet = 0
	}
	return pages
}

// TestPagesByChance replays deployments that exactly meet their objective: they spend the whole
// budget evenly, and no page should fire. For comparison it runs the base tiers without a
// minimum of bad turns, as most rule generators write them.
func TestPagesByChance(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates eight years; make test-long runs it")
	}
	const days = 360
	for _, tt := range []struct {
		objective, perMinute float64
		most                 int // pages in 360 days
	}{
		{0.99, 2, 12}, {0.999, 2, 12}, {0.99, 0.2, 12}, {0.999, 12, 12},
	} {
		o := Objective{Objective: tt.objective, Window: 30 * 24 * time.Hour}
		fitted := pagesByChance(rand.New(rand.NewPCG(1, 2)), newPager(o, o.BurnPlan(tt.perMinute).Tiers), days, tt.perMinute, o.Budget())
		plain := o.BurnPlan(0).Tiers
		for i := range plain {
			plain[i].MinBadLong, plain[i].MinBadShort = 1, 1
		}
		usual := pagesByChance(rand.New(rand.NewPCG(1, 2)), newPager(o, plain), days, tt.perMinute, o.Budget())
		t.Logf("objective %v, %v turns/min: %.1f pages per 30 days, %.1f with the usual rules", tt.objective, tt.perMinute, float64(fitted)*30/days, float64(usual)*30/days)
		if fitted > tt.most {
			t.Errorf("objective %v, %v turns/min: %d pages in %d days, want at most %d", tt.objective, tt.perMinute, fitted, days, tt.most)
		}
		if usual < fitted {
			t.Errorf("objective %v, %v turns/min: fitting the windows made it worse: %d pages instead of %d", tt.objective, tt.perMinute, fitted, usual)
		}
	}
}

// TestTimeToPage measures the median time from a fault to its page over 20 runs, after a day of good turns.
func TestTimeToPage(t *testing.T) {
	for _, tt := range []struct {
		objective, perMinute, badShare float64
		within                         time.Duration
	}{
		{0.99, 12, 1, 12 * time.Minute},
		{0.99, 12, 0.2, time.Hour},
		{0.99, 2, 1, 12 * time.Minute},
		{0.999, 2, 1, 6 * time.Minute},
		{0.99, 0.2, 1, 40 * time.Minute},
		{0.8, 12, 1, 3 * time.Hour},
	} {
		o := Objective{Objective: tt.objective, Window: 30 * 24 * time.Hour}
		rng := rand.New(rand.NewPCG(3, 4))
		var took []int
		for range 20 {
			p := newPager(o, o.BurnPlan(tt.perMinute).Tiers)
			for range 24 * 60 {
				p.minute(draw(rng, tt.perMinute, 0))
			}
			minutes := 0
			for ; !p.fires() && minutes < 7*24*60; minutes++ {
				p.minute(draw(rng, tt.perMinute, tt.badShare))
			}
			took = append(took, minutes)
		}
		slices.Sort(took)
		median := time.Duration(took[len(took)/2]) * time.Minute
		t.Logf("objective %v, %v turns/min, %g %% bad: pages after %s", tt.objective, tt.perMinute, tt.badShare*100, median)
		if median > tt.within {
			t.Errorf("objective %v, %v turns/min, %g %% bad: pages after %s, want within %s", tt.objective, tt.perMinute, tt.badShare*100, median, tt.within)
		}
	}
}
