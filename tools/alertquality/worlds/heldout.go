package worlds

import (
	"math"
	"math/rand/v2"
	"time"
)

// heldOut are models with the weekday routines of real deployments. No constant of the
// detection was chosen on them.
func heldOut() []Model {
	evicted := baseModel("evictions", "the share of cache misses rises from 5 to 40 % within 5 to 9 hours, and drops back when the cache is cleared", calm(), evictions)
	evicted.builtin.slow, evicted.builtin.misses = times(2, 3), true
	mix := baseModel("prompt-mix", "long prompts of other users: one turn in twenty takes 1.5 to 4 times as long at night, and three in ten in the afternoon", calm(), promptMix)
	mix.builtin.slow = times(1.5, 4)
	train := baseModel("releases", "weekly releases: a canary with a tenth of the turns on Tuesday, a rollout with a warm-up spike for each of six replicas on Wednesday, and then a level that is up to 8 % higher or lower", calm(), officeHours(0.12), releases)
	train.builtin.slow = times(1.4, 2)
	night := baseModel("maintenance", "half of the replicas are away from 03:00 to 04:30 in four nights of a week, and come back with cold caches", calm(), officeHours(0.15), maintenance)
	night.builtin.slow, night.builtin.misses = times(1.5, 2.5), true
	all := []Model{
		baseModel("hourly-jobs", "batch jobs at the full hour for 2 to 8 min, ×1.2 to ×1.5, and a long one at 02:00, ×1.7", calm(), hourlyJobs),
		night, evicted,
		baseModel("drift", "the level rises by 1 % a day for three weeks, until the engine is restarted", calm(), drift),
		mix, train,
	}
	for i := range all {
		all[i].builtin.heldOut = true
	}
	return all
}

// hourlyJobs raise the level at the beginning of most hours.
func hourlyJobs(c *course, rng *rand.Rand) {
	for at := time.Duration(0); at < c.length(); at += time.Hour {
		late := between(0, 40*time.Second)(rng)
		took, size := between(2*time.Minute, 8*time.Minute)(rng), times(1.2, 1.5)(rng)
		switch h := at % day / time.Hour; {
		case h == 2: // the long job of the night
			c.add(at+late, at+late+between(30*time.Minute, 45*time.Minute)(rng), math.Log(1.7))
		case h >= 6 && h < 22:
			c.add(at+late, at+late+took, size)
		}
	}
}

// maintenance takes half of the replicas away in four nights of a week.
func maintenance(c *course, rng *rand.Rand) {
	for d := 0; d <= dayOf(len(c.level)); d++ {
		from := time.Duration(d)*day + 3*time.Hour + between(0, 10*time.Minute)(rng)
		to := from + 80*time.Minute + between(0, 20*time.Minute)(rng)
		if w := d % 7; w < 1 || w > 4 {
			continue
		}
		c.add(from, to, 0.35)
		for i := c.index(to); i < c.index(to+10*time.Minute); i++ {
			c.slow[i] = 0.5
		}
	}
}

// evictions let the share of misses rise and drop like a saw tooth.
func evictions(c *course, rng *rand.Rand) {
	for at := time.Duration(0); at < c.length(); {
		took := between(5*time.Hour, 9*time.Hour)(rng)
		from, to := c.index(at), c.index(at+took)
		for i := from; i < to; i++ {
			c.slow[i] = float32(0.05 + 0.35*float64(i-from)/float64(to-from))
		}
		at += took
	}
}

// drift lets the level rise slowly until a restart.
func drift(c *course, rng *rand.Rand) {
	since := time.Duration(0)
	restart := between(18*day, 24*day)(rng)
	for i := range c.level {
		at := time.Duration(i) * courseStep
		if at-since > restart {
			since, restart = at, between(18*day, 24*day)(rng)
		}
		c.level[i] += float32(math.Log(1.01) * (at - since).Hours() / 24)
	}
}

// promptMix makes turns slow in the afternoon, when other users send long documents.
func promptMix(c *course, rng *rand.Rand) {
	height := perDay(c, rng, func(r *rand.Rand) float64 { return uniform(r, 0.19, 0.31) })
	for i := range c.level {
		d := dayOf(i)
		v := height[d] * hump(hour(i), 14.5, 3)
		if weekend(d) {
			v /= 4
		}
		c.slow[i] = float32(0.05 + v)
	}
}

// releases are a canary and a rollout in every week.
func releases(c *course, rng *rand.Rand) {
	level := 0.0
	for week := time.Duration(0); week < c.length(); week += 7 * day {
		canary := week + day + 10*time.Hour + between(0, time.Hour)(rng)
		for i := c.index(canary); i < c.index(canary+2*time.Hour); i++ {
			c.slow[i] = 0.1
		}
		rollout := week + 2*day + 10*time.Hour + between(0, time.Hour)(rng)
		for replica := range 6 {
			at := rollout + time.Duration(replica)*7*time.Minute
			c.add(at, at+between(time.Minute, 2*time.Minute)(rng), times(1.4, 1.9)(rng)/2)
		}
		level = min(0.2, max(-0.2, level+uniform(rng, math.Log(0.92), math.Log(1.08))))
		c.add(rollout+45*time.Minute, rollout+45*time.Minute+7*day, level)
	}
}
