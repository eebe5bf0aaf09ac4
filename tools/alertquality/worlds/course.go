package worlds

import (
	"math/rand/v2"
	"time"
)

// courseStep is the time between two entries of a course.
const courseStep = 10 * time.Second

// course describes a healthy deployment over time, in steps of courseStep from the start of a
// run (Monday, 00:00 UTC).
type course struct {
	// level is the natural logarithm of the factor on the TTFT.
	level []float32
	// slow is the share of slow turns, long the share of turns with a long prompt.
	slow, long []float32
	// spread is the factor on the spread of single turns.
	spread []float32
}

// effect changes a course.
type effect func(c *course, rng *rand.Rand)

// newCourse draws the course of a model. Each effect has its own random numbers, so adding an
// effect does not change the others.
func newCourse(m Model, seed uint64, length time.Duration) *course {
	n := int(length/courseStep) + 2
	track := func() []float32 { return make([]float32, n) }
	c := &course{level: track(), slow: track(), long: track(), spread: track()}
	for i := range c.spread {
		c.spread[i] = 1
	}
	for i, mv := range m.effects {
		mv(c, rand.New(rand.NewPCG(seed, 100+uint64(i))))
	}
	return c
}

// index returns the step at time t.
func (c *course) index(t time.Duration) int {
	return min(max(0, int(t/courseStep)), len(c.level)-1)
}

// add adds size to the level between two times.
func (c *course) add(from, to time.Duration, size float64) { c.addTo(c.level, from, to, size) }

// addTo adds size to a track between two times.
func (c *course) addTo(track []float32, from, to time.Duration, size float64) {
	for i := c.index(from); i < c.index(to); i++ {
		track[i] += float32(size)
	}
}

// level, slow and long name the tracks that an effect can change.
func level(c *course) []float32 { return c.level }
func slow(c *course) []float32  { return c.slow }
func long(c *course) []float32  { return c.long }

const day = 24 * time.Hour

func (c *course) length() time.Duration { return time.Duration(len(c.level)) * courseStep }

// hour returns the hour of the day at a step, 0 to 24.
func hour(i int) float64 { return (time.Duration(i) * courseStep % day).Hours() }

// dayOf returns the day of the run at a step. Day 0 is a Monday.
func dayOf(i int) int { return int(time.Duration(i) * courseStep / day) }

// weekend reports whether a day of the run is a Saturday or a Sunday.
func weekend(d int) bool { return d%7 >= 5 }

// monthEnd reports whether a day of the run is one of the last three calendar days of a month.
func monthEnd(d int) bool { return Epoch().AddDate(0, 0, d+3).Day() <= 3 }

// everyDays returns a function that is true for one day of each n days of the run, beginning with day first.
func everyDays(n, first int) func(d int) bool { return func(d int) bool { return d%n == first } }

// perDay draws a value for each day, with one spare day because effects may look one day ahead.
func perDay(c *course, rng *rand.Rand, draw func(*rand.Rand) float64) []float64 {
	out := make([]float64, dayOf(len(c.level))+2)
	for i := range out {
		out[i] = draw(rng)
	}
	return out
}

func uniform(rng *rand.Rand, low, high float64) float64 { return low + rng.Float64()*(high-low) }

// between returns a function that draws durations between two bounds.
func between(low, high time.Duration) func(*rand.Rand) time.Duration {
	return func(rng *rand.Rand) time.Duration { return low + time.Duration(rng.Float64()*float64(high-low)) }
}
