package worlds

import (
	"math"
	"math/rand/v2"
	"time"
)

// normal draws a change of a level, with mean 0 and variance 1.
func normal(rng *rand.Rand) float64 { return rng.NormFloat64() }

// student draws from a Student t distribution with four degrees of freedom, which has larger
// rare values than a normal one. Mean 0, variance 1.
func student(rng *rand.Rand) float64 {
	return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()+rng.ExpFloat64())
}

// wander adds a random level with standard deviation sd. Its autocorrelation falls to 1/e
// within keep.
func wander(sd float64, keep time.Duration, kick func(*rand.Rand) float64) effect {
	return func(c *course, rng *rand.Rand) {
		stay := math.Exp(-courseStep.Seconds() / keep.Seconds())
		x, size := sd*rng.NormFloat64(), sd*math.Sqrt(1-stay*stay)
		for i := range c.level {
			c.level[i] += float32(x)
			x = stay*x + size*kick(rng)
		}
	}
}

// bursts raise the level perDay times a day, at random times.
func bursts(perDay float64, length func(*rand.Rand) time.Duration, amount func(*rand.Rand) float64) effect {
	return func(c *course, rng *rand.Rand) {
		for at := time.Duration(0); ; {
			at += time.Duration(rng.ExpFloat64() / perDay * float64(day))
			took, size := length(rng), amount(rng)
			if at >= c.length() {
				return
			}
			c.add(at, at+took, size)
		}
	}
}

// spikes are bursts that begin at once and fade with a time constant. Their size is log-normal.
func spikes(perDay float64, fade time.Duration, median float64) effect {
	return func(c *course, rng *rand.Rand) {
		for at := time.Duration(0); ; {
			at += time.Duration(rng.ExpFloat64() / perDay * float64(day))
			size := math.Log(median) * math.Exp(0.5*rng.NormFloat64())
			if at >= c.length() {
				return
			}
			for i, n := 0, int(4*fade/courseStep); i < n && c.index(at)+i < len(c.level); i++ {
				c.level[c.index(at)+i] += float32(size * math.Exp(-float64(i)*courseStep.Seconds()/fade.Seconds()))
			}
		}
	}
}

// hump is a Gaussian of height 1 around an hour of the day.
func hump(h, center, width float64) float64 {
	d := (h - center) / width
	return math.Exp(-d * d / 2)
}

// officeHours raise the level on working days, most in the late morning and in the afternoon.
// Height and time differ from day to day.
func officeHours(amount float64) effect {
	return func(c *course, rng *rand.Rand) {
		height := perDay(c, rng, func(r *rand.Rand) float64 { return amount * max(0.3, 1+0.2*r.NormFloat64()) })
		late := perDay(c, rng, func(r *rand.Rand) float64 { return 0.3 * r.NormFloat64() })
		for i := range c.level {
			d, h := dayOf(i), hour(i)
			v := height[d] * max(hump(h, 10.8+late[d], 1.7), 0.9*hump(h, 15.3+late[d], 2))
			if weekend(d) {
				v *= 0.3
			}
			c.level[i] += float32(v)
		}
	}
}

// shifts are deployments. After each gap, next returns a new permanent level from the previous
// one.
func shifts(gap func(*rand.Rand) time.Duration, next func(level float64, rng *rand.Rand) float64) effect {
	return func(c *course, rng *rand.Rand) {
		level := 0.0
		for at := gap(rng); at < c.length(); {
			level = next(level, rng)
			until := at + gap(rng)
			c.add(at, min(until, c.length()), level)
			at = until
		}
	}
}

// stepWithin returns a function that changes a level by least to farthest, up or down, and
// keeps it within ±most.
func stepWithin(least, farthest, most float64) func(float64, *rand.Rand) float64 {
	return func(level float64, rng *rand.Rand) float64 {
		size := uniform(rng, least, farthest)
		if rng.Float64() < 0.5 {
			size = -size
		}
		if math.Abs(level+size) > most {
			size = -size
		}
		return level + size
	}
}

// queuePeak is a queue at noon. At its peak the median turn takes factor times as long, and
// single turns scatter twice as much. Height and time differ from day to day. Quiet days have
// no queue.
func queuePeak(factor float64, quiet func(d int) bool) effect {
	return func(c *course, rng *rand.Rand) {
		height := perDay(c, rng, func(r *rand.Rand) float64 { return factor * math.Exp(0.12*r.NormFloat64()) })
		late := perDay(c, rng, func(r *rand.Rand) float64 { return 0.6 * r.NormFloat64() })
		for i := range c.level {
			d := dayOf(i)
			if quiet(d) {
				continue
			}
			// The waiting time grows as 1/(1-load): slowly first, steeply near full load.
			load := hump(hour(i), 13.5+late[d], 2.6)
			top := 1 - 1/height[d]
			wait := 1 / (1 - top*load*load)
			c.level[i] += float32(math.Log(wait))
			c.spread[i] *= float32(1 + load*load)
		}
	}
}

// daily adds an amount to a track once on the days for which on is true. start is the time since midnight.
func daily(track func(*course) []float32, on func(d int) bool, start, length func(*rand.Rand) time.Duration, amount func(*rand.Rand) float64) effect {
	return func(c *course, rng *rand.Rand) {
		for d := range dayOf(len(c.level)) + 1 {
			from, took, size := time.Duration(d)*day+start(rng), length(rng), amount(rng)
			if on(d) {
				c.addTo(track(c), from, from+took, size)
			}
		}
	}
}

// backAndForth returns a function that multiplies a level by up, then by down, and then begins again.
func backAndForth(up, down float64) func(float64, *rand.Rand) float64 {
	return func(level float64, _ *rand.Rand) float64 {
		if level > 0 {
			return math.Log(up * down)
		}
		return math.Log(up)
	}
}

// drift lets a share of turns drift around middle. Its logit has the standard deviation sd, and its autocorrelation
// falls to 1/e within keep.
func drift(track func(*course) []float32, middle, sd float64, keep time.Duration) effect {
	return func(c *course, rng *rand.Rand) {
		x := &course{level: make([]float32, len(c.level))}
		wander(sd, keep, normal)(x, rng)
		offset := math.Log(middle / (1 - middle))
		for i, v := range x.level {
			track(c)[i] += float32(1 / (1 + math.Exp(-offset-float64(v))))
		}
	}
}
