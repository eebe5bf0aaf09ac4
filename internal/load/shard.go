package load

import (
	"strconv"

	"synthetic/internal/probe/workload"
)

// Shard is one of Count equal shares of a load that several processes generate together; the
// zero value is the whole load. Together the shards start the same conversations at the same
// times as one process would.
type Shard struct {
	Index, Count int
}

// Whole reports whether the shard is the whole load.
func (s Shard) Whole() bool { return s.Count <= 1 }

// OwnsStart reports whether start n of an open loop, counted from 0, belongs to this shard. The
// choice is random, so that each shard of a Poisson process is a Poisson process too. Taking
// every Count-th start would be far too even.
func (s Shard) OwnsStart(seed uint64, n int) bool {
	if s.Whole() {
		return true
	}
	hash := workload.Hash("part", strconv.FormatUint(seed, 16), strconv.Itoa(n))
	return hash%uint64(s.Count) == uint64(s.Index)
}

func (s Shard) ownsSlot(n int) bool { return s.Whole() || n%s.Count == s.Index }

// Slots returns how many of total slots belong to this shard. Lower shards take the remainder.
func (s Shard) Slots(total int) int {
	if s.Whole() {
		return total
	}
	return (total + s.Count - 1 - s.Index) / s.Count
}

// ownsStart reports whether conversation n of the loop belongs to this shard. In a closed loop
// the conversations are assigned to the slots in turn, so a shard's conversations are in
// proportion to its slots.
func (l *Loop) ownsStart(n int) bool {
	if l.Process == workload.Closed {
		return l.Shard.ownsSlot(n % max(l.Concurrency, 1))
	}
	return l.Shard.OwnsStart(l.Seed, n)
}

// CountOwned returns how many of the first total conversations belong to this shard.
func (l *Loop) CountOwned(total int) (n int) {
	for i := range total {
		if l.ownsStart(i) {
			n++
		}
	}
	return n
}
