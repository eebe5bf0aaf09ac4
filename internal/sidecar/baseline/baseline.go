package baseline

import (
	"cmp"
	"math"
	"slices"
	"time"

	"synthetic/internal/probe"
)

const (
	// BlockLength is the period of one entry of a baseline.
	BlockLength = 30 * time.Minute
	slots       = 48 // in a day
	entryCount  = historyDays * slots
	// Comparisons begin after startBlocks, with a young baseline. After matureBlocks, a day, it is
	// no longer young.
	startBlocks, matureBlocks = 6, slots
	minBlock                  = 8
	maxFailed                 = 0.05
)

// entry is the measurement of half an hour.
type entry struct {
	// number counts half hours since 1970; 0 means no entry.
	number int32
	// mean and variance of n turns; bad is the share that violated the objective.
	mean, variance, bad float32
	// counted is 2n, plus 1 if the entry is usual, which means that the baseline learns from
	// it.
	counted uint32
}

const mostCounted = math.MaxUint32 >> 1

func (e *entry) n() uint32   { return e.counted >> 1 }
func (e *entry) usual() bool { return e.counted&1 == 1 }
func (e *entry) admit()      { e.counted |= 1 }

// baseline is the usual level of a value over four weeks: an overall level, and an offset for
// each half hour of the week. Its owner decides what it learns, so that a lasting regression does
// not become the baseline.
type baseline struct {
	// zone is the time zone of the week; nil means UTC.
	zone    *time.Location
	entries []entry
	block   block
	// since is the first half hour of the current level; 0 if no level was accepted. accepted
	// is that level when it was accepted.
	since    int32
	accepted float64
	moved    time.Time
	derived
}

// block is the half hour in progress.
type block struct {
	start    time.Time
	n        float64
	mean, m2 float64
	bad      float64
	failed   int
	// minutes is the number of minutes that were added as a whole, not turn by turn.
	minutes int
	// An unsuitable block is never learned. A regressed block is learned only if its level has
	// become habitual.
	unsuitable, regressed bool
}

func (b *block) add(v float64, bad bool) {
	share := 0.0
	if bad {
		share = 1
	}
	b.weigh(1, v, share)
}

// weigh adds n values by their mean and the share of bad ones.
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
	if b.minutes > 0 { // the variance of a mean of n values is 1/n of that of single values
		freedom = float64(b.minutes - 1)
	}
	return entry{
		number: numberOf(b.start), mean: float32(b.mean), variance: float32(b.m2 / max(1, freedom)),
		bad: float32(b.bad / n), counted: uint32(min(b.n, mostCounted)) << 1,
	}
}

// fit reports whether the block has enough good turns to compare with.
func (b *block) fit() bool {
	return !b.unsuitable && b.n >= minBlock && float64(b.failed) <= maxFailed*(b.n+float64(b.failed))
}

// numberOf numbers half hours and dayOf days since 1970.
func numberOf(at time.Time) int32 { return int32(at.Unix() / int64(BlockLength/time.Second)) }
func dayOf(number int32) int32    { return number / slots }

func startOf(number int32) time.Time {
	return time.Unix(int64(number)*int64(BlockLength/time.Second), 0).UTC()
}

// roll ends the block if at is in another one. The block is learned if usual agrees. It reports
// whether there is a new entry.
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

// each calls do for the entries of the half hours (from, to], oldest first.
func (b *baseline) each(from, to int32, do func(*entry)) {
	for i := b.search(from + 1); i < len(b.entries) && b.entries[i].number <= to; i++ {
		do(&b.entries[i])
	}
}

// search returns the index of the first entry at or after a half hour.
func (b *baseline) search(number int32) int {
	i, _ := slices.BinarySearchFunc(b.entries, number, func(e entry, n int32) int { return cmp.Compare(e.number, n) })
	return i
}

// setZone changes the time zone of the week. It reports whether the shape is another one.
func (b *baseline) setZone(zone *time.Location) bool {
	if b == nil || b.zone.String() == zone.String() { // the name of nil is UTC
		return false
	}
	b.in(zone)
	return true
}

// put adds an entry and drops entries older than four weeks. It also drops entries in the
// future, which came from a wrong clock.
func (b *baseline) put(e entry) {
	b.entries = slices.Delete(b.entries[:b.search(e.number)], 0, b.search(e.number-entryCount+1))
	if len(b.entries) == cap(b.entries) { // grow by a day: append would leave a third unused
		b.entries = append(make([]entry, 0, len(b.entries)+slots), b.entries...)
	}
	b.entries = append(b.entries, e)
}

// entryOf returns the entry of a half hour, or nil.
func (b *baseline) entryOf(number int32) *entry {
	if i := b.search(number); i < len(b.entries) && b.entries[i].number == number {
		return &b.entries[i]
	}
	return nil
}

// accept makes the half hours since a time usual and removes earlier ones from the level. rise
// is the difference of the levels. The daily and weekly shape stays.
func (b *baseline) accept(since, now int32, rise float64) {
	b.each(since-1, now, (*entry).admit)
	b.since, b.accepted = since, b.level+rise
	b.derive(now)
}

// started reports whether there is a level to compare with, mature whether there is a full
// baseline.
func (b *baseline) started() bool { return b != nil && b.blocks >= startBlocks }
func (b *baseline) mature() bool  { return b != nil && b.blocks >= matureBlocks }

func (b *baseline) spreadOr() float64 {
	if !b.mature() {
		return youngSpread
	}
	return b.spread
}

// cached learns the usual share of prompt tokens that come from the prefix cache, as baselines
// do, on a linear scale.
type cached struct {
	baseline *baseline
	zone     *time.Location
}

func (c *cached) observe(r *probe.Result, at time.Time, unsuitable bool) {
	if !r.CachedTokens.OK || !r.PromptTokens.OK || r.PromptTokens.V <= 0 {
		return
	}
	if c.baseline == nil {
		c.baseline = &baseline{zone: c.zone}
	}
	// A half hour that lost a large part of the usual cache hits is not learned.
	c.baseline.roll(at, func(b *block) bool { return !c.baseline.mature() || b.mean >= 0.8*c.baseline.at(b.start) })
	c.baseline.block.add(float64(r.CachedTokens.V)/float64(r.PromptTokens.V), false)
	c.baseline.block.unsuitable = c.baseline.block.unsuitable || unsuitable
}

func (c *cached) usual(at time.Time) (share probe.Opt[float64]) {
	if c.baseline.mature() {
		share = probe.Some(min(max(c.baseline.at(at), 0), 1))
	}
	return share
}
