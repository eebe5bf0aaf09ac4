package worlds

import (
	"math/rand/v2"
	"time"
)

// courseStep is the resolution of a course.
const courseStep = 10 * time.Second

// course is how a deployment goes over time while nothing is wrong with it, in
// steps of courseStep from the start of a run, which is a Monday at midnight.
type course struct {
	// level is the natural logarithm of the factor on the time to first token.
	level []float32
	// slow is the share of turns of the slow kind of the model.
	slow []float32
	// spread is a factor on the spread of single turns.
	spread []float32
}

// move is one thing that moves a course.
type move func(c *course, rng *rand.Rand)

// newCourse draws the course of a model. Each move has random numbers of its
// own: what is added to a model leaves the rest as it is.
func newCourse(m Model, seed uint64, length time.Duration) *course {
	n := int(length/courseStep) + 2
	c := &course{make([]float32, n), make([]float32, n), make([]float32, n)}
	for i := range c.spread {
		c.spread[i] = 1
	}
	for i, mv := range append(m.moves(), m.nature.moves...) {
		mv(c, rand.New(rand.NewPCG(seed, 100+uint64(i))))
	}
	return c
}

// index is that of a time.
func (c *course) index(t time.Duration) int {
	return min(max(0, int(t/courseStep)), len(c.level)-1)
}

// add adds a size to the level from one time to another.
func (c *course) add(from, to time.Duration, size float64) {
	for i := c.index(from); i < c.index(to); i++ {
		c.level[i] += float32(size)
	}
}

const day = 24 * time.Hour

// length is how long the course is.
func (c *course) length() time.Duration { return time.Duration(len(c.level)) * courseStep }

// hour is the hour of the day at a step, 0 to 24.
func hour(i int) float64 { return (time.Duration(i) * courseStep % day).Hours() }

// dayOf is the day of a run at a step; its day 0 is a Monday.
func dayOf(i int) int { return int(time.Duration(i) * courseStep / day) }

// weekend says that a day of a run is a Saturday or a Sunday.
func weekend(d int) bool { return d%7 >= 5 }

// perDay draws a figure for each day, of which a move may look one day ahead.
func perDay(c *course, rng *rand.Rand, draw func(*rand.Rand) float64) []float64 {
	out := make([]float64, dayOf(len(c.level))+2)
	for i := range out {
		out[i] = draw(rng)
	}
	return out
}

// uniform draws between two bounds.
func uniform(rng *rand.Rand, low, high float64) float64 { return low + rng.Float64()*(high-low) }

// between draws durations between two bounds.
func between(low, high time.Duration) func(*rand.Rand) time.Duration {
	return func(rng *rand.Rand) time.Duration { return low + time.Duration(rng.Float64()*float64(high-low)) }
}
