package regression

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
)

const (
	// BlockLength is the time that one entry of a baseline stands for.
	BlockLength = 30 * time.Minute
	slots       = 48 // of a day
	days        = 7
	// matureBlocks make a baseline: a day of them. From fullBlocks on, six days,
	// the level may rise no further than drift above the lowest it ever had.
	matureBlocks, fullBlocks = slots, slots * (days - 1)
	drift                    = 0.05
	// seasonDays of the same hour tell a daily season from noise.
	seasonDays = 3
	// minBlock is the fewest turns that make an entry.
	minBlock = 8
	// maxFailed is the largest share of failed turns in an entry.
	maxFailed = 0.05
	// noiseDays is over how long the noise of the level is averaged once the
	// baseline is full, and noiseUncertain over the root of their number what
	// few half hours may be off by: half hours resemble their neighbours, so it
	// takes three or four of them to say what one of its own would.
	noiseDays      = 30
	noiseUncertain = 0.8
)

// Entry is a half hour that was taken into a baseline.
type Entry struct {
	// Mean and Variance are those of the values of N turns.
	Mean     float32 `json:"mean"`
	Variance float32 `json:"variance"`
	N        uint32  `json:"n"`
}

// slot holds the entries of one half hour of the day, the newest of each day, the
// oldest first.
type slot []Entry

// add takes an entry in, and lets go of that of a week ago.
func (s *slot) add(e Entry) {
	if len(*s) == days {
		*s = slices.Delete(*s, 0, 1)
	}
	*s = append(*s, e)
}

func (s slot) mean() float64 {
	sum := 0.0
	for _, e := range s {
		sum += float64(e.Mean)
	}
	return sum / float64(len(s))
}

// baseline is the usual level of a value, by half hour of the day, over up to
// seven days. What it learns is gated by its owner, and its overall level is
// anchored, so that a lasting regression does not become the usual.
type baseline struct {
	slots [slots]slot
	block block
	// anchor is the lowest overall level since the baseline was full, +Inf
	// before.
	anchor float64
	// below are the deviations of the half hours taken in since the baseline was
	// full, and of those it was then full of.
	below deviations
	derived
}

// derived follows from the entries.
type derived struct {
	blocks  int
	samples int
	// level is the overall level, anchored; season what each half hour adds.
	level  float64
	season [slots]float32
	// noise is the standard deviation of the entries around level and season;
	// spread that of single turns within an entry.
	noise, spread float64
}

// block is the half hour that is being measured.
type block struct {
	start      time.Time
	n          int
	mean, m2   float64
	failed     int
	unsuitable bool
}

// add takes a value by Welford's method.
func (b *block) add(v float64) {
	b.n++
	d := v - b.mean
	b.mean += d / float64(b.n)
	b.m2 += d * (v - b.mean)
}

func (b *block) entry() Entry {
	return Entry{Mean: float32(b.mean), Variance: float32(b.m2 / float64(max(1, b.n-1))), N: uint32(b.n)}
}

// fit says that the block can stand in a baseline.
func (b *block) fit() bool {
	return !b.unsuitable && b.n >= minBlock && float64(b.failed) <= maxFailed*float64(b.n+b.failed)
}

func newBaseline() *baseline { return &baseline{anchor: math.Inf(1)} }

func slotOf(at time.Time) int {
	return int(at.Sub(at.Truncate(24*time.Hour)) / BlockLength)
}

// roll ends the block if at lies in another one. keep has the last word on
// whether it may be learned.
func (b *baseline) roll(at time.Time, keep func(*block) bool) {
	start := at.Truncate(BlockLength)
	if start.Equal(b.block.start) {
		return
	}
	if done := b.block; !done.start.IsZero() && done.fit() && keep(&done) {
		b.below.follow(done.mean - b.at(done.start))
		b.slots[slotOf(done.start)].add(done.entry())
		b.derive()
	}
	b.block = block{start: start}
}

// mature says that there is a baseline, full that it has seen a week.
func (b *baseline) mature() bool { return b != nil && b.blocks >= matureBlocks }
func (b *baseline) full() bool   { return b.blocks >= fullBlocks }

// at is the usual level at a time.
func (b *baseline) at(t time.Time) float64 { return b.level + float64(b.season[slotOf(t)]) }

// cached knows the usual share of prompt tokens that come from the prefix
// cache. It learns as the baselines do, on the plain scale.
type cached struct{ baseline *baseline }

func (c *cached) observe(r *probe.Result, at time.Time, unsuitable bool) {
	if !r.CachedTokens.OK || !r.PromptTokens.OK || r.PromptTokens.V <= 0 {
		return
	}
	if c.baseline == nil {
		c.baseline = newBaseline()
	}
	c.baseline.roll(at, c.mayLearn)
	c.baseline.block.add(float64(r.CachedTokens.V) / float64(r.PromptTokens.V))
	c.baseline.block.unsuitable = c.baseline.block.unsuitable || unsuitable
}

// mayLearn refuses half hours in which a good part of the usual hits is gone.
func (c *cached) mayLearn(b *block) bool {
	return !c.baseline.mature() || b.mean >= 0.8*c.baseline.at(b.start)
}

func (c *cached) usual(at time.Time) float64 {
	if !c.baseline.mature() {
		return math.NaN()
	}
	return min(max(c.baseline.at(at), 0), 1)
}
