package regression

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

const (
	// BlockLength is the time that one entry of a baseline stands for.
	BlockLength = 30 * time.Minute
	slots       = 48 // of a day
	entryCount  = historyDays * slots
	// startBlocks make something to compare with, matureBlocks a baseline: a day
	// of them.
	startBlocks, matureBlocks = 6, slots
	// minBlock is the fewest turns that make an entry.
	minBlock = 8
	// maxFailed is the largest share of failed turns in an entry.
	maxFailed = 0.05
)

// entry is what was measured in a half hour.
type entry struct {
	// number is that of the half hour since 1970; 0 is no entry.
	number int32
	// mean and variance are those of n turns, bad the share of them that missed
	// the objective.
	mean, variance, bad float32
	n                   uint32
	// usual says that the baseline was learned from it.
	usual bool
}

// baseline is the usual level of a value: an overall level, and what weekdays,
// weekends and each half hour of them add to it, over four weeks. What it learns
// is gated by its owner, so that a lasting regression does not become the usual.
type baseline struct {
	entries [entryCount]entry // a ring by number
	block   block
	// since is the half hour from which on the level counts, accepted what it was
	// taken for then.
	since    int32
	accepted float64
	// moved is when a lasting level was last taken for the usual.
	moved time.Time
	derived
}

// block is the half hour that is being measured.
type block struct {
	start      time.Time
	n          int
	mean, m2   float64
	bad        int
	failed     int
	unsuitable bool
}

// add takes a value by Welford's method.
func (b *block) add(v float64, bad bool) {
	b.n++
	d := v - b.mean
	b.mean += d / float64(b.n)
	b.m2 += d * (v - b.mean)
	if bad {
		b.bad++
	}
}

func (b *block) entry() entry {
	n := float64(max(1, b.n))
	return entry{
		number: numberOf(b.start), mean: float32(b.mean), variance: float32(b.m2 / max(1, n-1)),
		bad: float32(float64(b.bad) / n), n: uint32(b.n),
	}
}

// fit says that the block was measured well enough to be compared with.
func (b *block) fit() bool {
	return !b.start.IsZero() && b.n >= minBlock && float64(b.failed) <= maxFailed*float64(b.n+b.failed)
}

// numberOf numbers half hours, dayOf days; both since 1970.
func numberOf(at time.Time) int32 { return int32(at.Unix() / int64(BlockLength/time.Second)) }
func dayOf(number int32) int32    { return number / slots }

// weekend says whether a day is a Saturday or a Sunday: 1970 began on a Thursday.
func weekend(day int32) int {
	if d := (day + 4) % 7; d == 0 || d == 6 {
		return 1
	}
	return 0
}

// roll ends the block if at lies in another one. usual has the last word on
// whether it is learned from. It reports whether there is a new entry.
func (b *baseline) roll(at time.Time, usual func(*block) bool) bool {
	start := at.Truncate(BlockLength)
	if start.Equal(b.block.start) {
		return false
	}
	done := b.block
	b.block = block{start: start}
	if done.fit() {
		e := done.entry()
		e.usual = !done.unsuitable && usual(&done)
		b.entries[e.number%entryCount] = e
		b.derive(e.number)
	}
	return done.fit()
}

// each calls do for the entries of the half hours (from, to], the oldest first.
func (b *baseline) each(from, to int32, do func(*entry)) {
	for n := max(from+1, to-entryCount+1); n <= to; n++ {
		if e := &b.entries[n%entryCount]; e.number == n {
			do(e)
		}
	}
}

// accept takes the half hours since one for usual, and those before it no more
// for the level, which is rise above what it was: the shape of days and weeks
// stays.
func (b *baseline) accept(since, now int32, rise float64) {
	b.each(since-1, now, func(e *entry) { e.usual = true })
	b.since, b.accepted = since, b.level+rise
	b.derive(now)
}

// started says that there is something to compare with, mature that there is a
// baseline.
func (b *baseline) started() bool { return b != nil && b.blocks >= startBlocks }
func (b *baseline) mature() bool  { return b != nil && b.blocks >= matureBlocks }

// spreadOr is the standard deviation of single turns, or what stands in for it.
func (b *baseline) spreadOr() float64 {
	if !b.mature() {
		return youngSpread
	}
	return b.spread
}

// cached knows the usual share of prompt tokens that come from the prefix
// cache. It learns as the baselines do, on the plain scale.
type cached struct{ baseline *baseline }

func (c *cached) observe(r *probe.Result, at time.Time, unsuitable bool) {
	if !r.CachedTokens.OK || !r.PromptTokens.OK || r.PromptTokens.V <= 0 {
		return
	}
	if c.baseline == nil {
		c.baseline = &baseline{}
	}
	c.baseline.roll(at, c.mayLearn)
	c.baseline.block.add(float64(r.CachedTokens.V)/float64(r.PromptTokens.V), false)
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
