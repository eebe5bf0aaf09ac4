package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// sizeMix draws prompts of different sizes: TTFT = the model's FirstTTFT + perToken for each prompt token
// that no cache holds. A conversation keeps its context, which the cache holds.
type sizeMix struct {
	perToken time.Duration
	// least and most bound the first prompt, median is its usual size in tokens, and sigma the spread of
	// its logarithm. followup is the median of what a later turn adds.
	least, most, median, sigma, followup float64
	// long draws the logarithm of the factor on what a turn of a batch adds; nil without batches.
	long func(*rand.Rand) float64
}

// draw returns the sizes of the next turn of a conversation, in tokens, and extends its context.
func (m *sizeMix) draw(c *conversation, shift, long float64, output int, rng *rand.Rand) (prompt, cached int) {
	median, least := m.median, m.least
	if c.turn > 1 {
		median, least, shift = m.followup, 20, shift/2
	}
	if m.long != nil && rng.Float64() < long {
		shift += m.long(rng)
	}
	added := math.Exp(math.Log(median) + shift + m.sigma*rng.NormFloat64())
	added = min(max(added, least), m.most)
	cached = c.context / 16 * 16 // whole blocks
	prompt = c.context + int(added)
	c.context = prompt + output
	return prompt, cached
}

// sizeModel is a calm deployment with prompts of different sizes. The mix moves through the day by a factor of
// swing up and down. perWeek times a week at random times, the median grows by the factor batch within
// minutes, for one to two hours.
func sizeModel(name string, m sizeMix, swing, perWeek, batch float64) Model {
	about := fmt.Sprintf("prompts of %.0fk to %.0fk tokens, %s per 1,000 uncached tokens; the median moves by ×%g through the day, and %g times a week by ×%g for one to two hours",
		m.least/1000, m.most/1000, 1000*m.perToken, swing, perWeek, batch)
	model := routineModel(name, "UTC", about, mixMoves(math.Log(swing), perWeek, math.Log(batch)))
	model.TTFTObjective = 25 * time.Second // an objective that turns of all sizes keep
	model.builtin.sizes = &m
	return model
}

// ownBatchModel has batches as batchModel, of the prober's own prompts: a slow turn has a longer prompt.
func ownBatchModel(name string, perDay float64, took func(*rand.Rand) time.Duration, length string, least, most float64) Model {
	m := routineModel(name, "UTC", fmt.Sprintf("%g batches of long prompts a day at random times, of %s: %.0f to %.0f %% of the prober's own turns add 4 to 10 times as many tokens", perDay, length, 100*least, 100*most),
		longBatches(perDay, took, least, most))
	m.FirstTTFT = 60 * time.Millisecond
	m.builtin.sizes = &sizeMix{perToken: 600 * time.Microsecond, least: 20, most: 20_000, median: 300, sigma: 0.05, followup: 300, long: times(4, 10)}
	return m
}

// mixMoves moves the logarithm of the median size.
func mixMoves(swing, perWeek, batch float64) effect {
	return func(c *course, rng *rand.Rand) {
		for i := range c.sizes {
			c.sizes[i] += float32(swing * math.Sin(2*math.Pi*(hour(i)-9)/24))
		}
		for at := time.Duration(0); ; {
			at += time.Duration(rng.ExpFloat64() / perWeek * float64(7*day))
			took := between(time.Hour, 2*time.Hour)(rng)
			if at >= c.length() {
				return
			}
			for i := c.index(at); i < c.index(at+took); i++ {
				c.sizes[i] = float32(batch)
			}
		}
	}
}
