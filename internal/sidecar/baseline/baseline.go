package baseline

import (
	"cmp"
	"math"
	"slices"
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
	// counted is twice n, and one more if the baseline was learned from it.
	counted uint32
}

// mostCounted is the most turns of an entry.
const mostCounted = math.MaxUint32 >> 1

func (e *entry) n() uint32   { return e.counted >> 1 }
func (e *entry) usual() bool { return e.counted&1 == 1 }
func (e *entry) admit()      { e.counted |= 1 }

// baseline is the usual level of a value: an overall level, and what weekdays,
// weekends and each half hour of them add to it, over four weeks. What it learns
// is gated by its owner, so that a lasting regression does not become the usual.
type baseline struct {
	// entries are those of four weeks, the oldest first.
	entries []entry
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
	start    time.Time
	n        float64
	mean, m2 float64
	bad      float64
	failed   int
	// minutes is how many of them were taken whole, and not turn by turn.
	minutes int
	// unsuitable blocks say nothing, regressed ones are usual by habit alone.
	unsuitable, regressed bool
}

// add takes a value.
func (b *block) add(v float64, bad bool) {
	share := 0.0
	if bad {
		share = 1
	}
	b.weigh(1, v, share)
}

// weigh takes the mean of so many values, and the share of them that are bad.
func (b *block) weigh(n, mean, bad float64) {
	b.n += n
	d := mean - b.mean
	b.mean += d * n / b.n
	b.m2 += n * d * (mean - b.mean)
	b.bad += n * bad
}

func (b *block) entry() entry {
	n := max(1, b.n)
	freedom := n - 1
	if b.minutes > 0 { // means of n values vary by an n-th of what these do
		freedom = float64(b.minutes - 1)
	}
	return entry{
		number: numberOf(b.start), mean: float32(b.mean), variance: float32(b.m2 / max(1, freedom)),
		bad: float32(b.bad / n), counted: uint32(min(b.n, mostCounted)) << 1,
	}
}

// fit says that the block was measured well enough to be compared with.
func (b *block) fit() bool {
	return !b.unsuitable && b.n >= minBlock && float64(b.failed) <= maxFailed*(b.n+float64(b.failed))
}

// numberOf numbers half hours, dayOf days; both since 1970.
func numberOf(at time.Time) int32 { return int32(at.Unix() / int64(BlockLength/time.Second)) }
func dayOf(number int32) int32    { return number / slots }

// startOf is when a half hour begins.
func startOf(number int32) time.Time {
	return time.Unix(int64(number)*int64(BlockLength/time.Second), 0).UTC()
}

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
		if usual(&done) {
			e.admit()
		}
		b.put(e)
		b.derive(e.number)
	}
	return done.fit()
}

// each calls do for the entries of the half hours (from, to], the oldest first.
func (b *baseline) each(from, to int32, do func(*entry)) {
	for i := b.search(from + 1); i < len(b.entries) && b.entries[i].number <= to; i++ {
		do(&b.entries[i])
	}
}

// search finds the first entry of a half hour or later.
func (b *baseline) search(number int32) int {
	i, _ := slices.BinarySearchFunc(b.entries, number, func(e entry, n int32) int { return cmp.Compare(e.number, n) })
	return i
}

// put takes an entry, and drops what is older than four weeks, or lies ahead: that
// was measured by another clock.
func (b *baseline) put(e entry) {
	b.entries = slices.Delete(b.entries[:b.search(e.number)], 0, b.search(e.number-entryCount+1))
	if len(b.entries) == cap(b.entries) { // by days: append would leave a third of it empty
		b.entries = append(make([]entry, 0, len(b.entries)+slots), b.entries...)
	}
	b.entries = append(b.entries, e)
}

// entryOf is the entry of a half hour; nil if there is none.
func (b *baseline) entryOf(number int32) *entry {
	if i := b.search(number); i < len(b.entries) && b.entries[i].number == number {
		return &b.entries[i]
	}
	return nil
}

// accept takes the half hours since one for usual, and those before it no more
// for the level, which is rise above what it was: the shape of days and weeks
// stays.
func (b *baseline) accept(since, now int32, rise float64) {
	b.each(since-1, now, (*entry).admit)
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
