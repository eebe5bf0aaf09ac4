package worlds

import (
	"math"
	"math/rand/v2"
	"time"
)

func logOf(factor float64) float64 { return math.Log(factor) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// cacheFlushes are releases at random working hours that empty the prefix cache, which fills again
// within heal. The times a week are the number of releases.
func cacheFlushes(times float64, heal time.Duration) effect {
	return atWork(times, func(c *course, at time.Duration, _ *rand.Rand) {
		from, n := c.index(at), int(heal/courseStep)
		for i := from; i < min(from+n, len(c.flushed)); i++ {
			c.flushed[i] = float32(1 - float64(i-from)/float64(n))
		}
	})
}

// badReleases are raised by size for took, until they are rolled back. Both the release and the
// rollback restart replicas, which is a spike of a minute or two.
func badReleases(times, size float64, took func(*rand.Rand) time.Duration) effect {
	return atWork(times, func(c *course, at time.Duration, rng *rand.Rand) {
		until := at + took(rng)
		c.add(at, until, logOf(size))
		for _, restart := range []time.Duration{at, until} {
			c.add(restart, restart+between(time.Minute, 2*time.Minute)(rng), logOf(1.4))
		}
	})
}

// atWork has releases at random times of working hours, some times a week on average, and calls do for
// each.
func atWork(times float64, do func(*course, time.Duration, *rand.Rand)) effect {
	return func(c *course, rng *rand.Rand) {
		for _, d := range c.localDays() {
			happens, at := rng.Float64() < times/5, d.at(uniform(rng, 9, 17))
			if happens && !on(time.Saturday, time.Sunday)(d.date) {
				do(c, at, rng)
			}
		}
	}
}

// longBatches are batches of long prompts by other users: for some minutes a part of the turns is
// slow.
func longBatches(perDay float64, took func(*rand.Rand) time.Duration, least, most float64) effect {
	return func(c *course, rng *rand.Rand) {
		for at := time.Duration(0); ; {
			at += time.Duration(rng.ExpFloat64() / perDay * float64(day))
			length, share := took(rng), uniform(rng, least, most)
			if at >= c.length() {
				return
			}
			for i := c.index(at); i < c.index(at+length); i++ {
				c.slow[i] = float32(share)
			}
		}
	}
}

// failovers send the turns to another region for some hours, which adds a constant time to the
// first token.
func failovers(perMonth float64, added time.Duration, took func(*rand.Rand) time.Duration) effect {
	return func(c *course, rng *rand.Rand) {
		for at := time.Duration(0); ; {
			at += time.Duration((0.3 + 0.7*rng.ExpFloat64()) / perMonth * float64(30*day))
			length := took(rng)
			if at >= c.length() {
				return
			}
			for i := c.index(at); i < c.index(at+length); i++ {
				c.away[i] = float32(added.Seconds())
			}
			at += length
		}
	}
}
