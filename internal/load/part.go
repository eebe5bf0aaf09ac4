package load

import (
	"strconv"

	"synthetic/internal/probe/workload"
)

// Part is one of Count equal parts of a load that several processes carry
// together; the zero value is all of it. Together the parts start what one process
// would start, at the same times, and each conversation is in one part alone.
type Shard struct {
	// Index counts from 0.
	Index, Count int
}

// Whole reports whether the part is all of the load.
func (p Shard) Whole() bool { return p.Count <= 1 }

// Arrival reports whether the n-th start of an open loop, from 0, is this part's.
// The part is picked at random, which makes of a Poisson process a Poisson process;
// every Count-th start would come far more evenly than that.
func (p Shard) OwnsStart(seed uint64, n int) bool {
	if p.Whole() {
		return true
	}
	hash := workload.Hash("part", strconv.FormatUint(seed, 16), strconv.Itoa(n))
	return hash%uint64(p.Count) == uint64(p.Index)
}

// Slot reports whether the n-th slot of a closed loop, from 0, is this part's.
func (p Shard) ownsSlot(n int) bool { return p.Whole() || n%p.Count == p.Index }

// Of is how many of so many slots are this part's: the lower parts have one more
// where they do not divide evenly.
func (p Shard) Slots(slots int) int {
	if p.Whole() {
		return slots
	}
	return (slots + p.Count - 1 - p.Index) / p.Count
}

// mine reports whether the n-th conversation of the loop, from 0, is its part's.
// Slots of a closed loop have a turn each, so that a part has as many conversations
// as slots.
func (l *Loop) mine(n int) bool {
	if l.Process == workload.Closed {
		return l.Shard.ownsSlot(n % max(l.Concurrency, 1))
	}
	return l.Shard.OwnsStart(l.Seed, n)
}

// Share is how many of the first so many conversations of the loop are its part's.
func (l *Loop) CountOwned(of int) (n int) {
	for i := range of {
		if l.mine(i) {
			n++
		}
	}
	return n
}
