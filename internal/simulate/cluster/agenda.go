package cluster

import "time"

// entry is something that will happen.
type entry struct {
	at    time.Duration
	rank  uint64 // of entries at one time: the lowest first
	order uint64 // of entries of one rank: first in, first out
	do    func()
}

// agenda is a binary heap of what will happen, the next on top.
type agenda struct {
	heap  []entry
	count uint64
}

// add puts something on the agenda, before all that has a rank.
func (a *agenda) add(at time.Duration, do func()) { a.addRanked(at, 0, do) }

// addRanked puts something on the agenda whose place among what is due at the
// same time does not depend on when it was added.
func (a *agenda) addRanked(at time.Duration, rank uint64, do func()) {
	a.count++
	a.heap = append(a.heap, entry{at, rank, a.count, do})
	for i := len(a.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.less(i, parent) {
			return
		}
		a.heap[i], a.heap[parent] = a.heap[parent], a.heap[i]
		i = parent
	}
}

// next takes the first entry off the agenda, which must not be empty.
func (a *agenda) next() entry {
	top := a.heap[0]
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = entry{}
	a.heap = a.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && a.less(child+1, child) {
			child++
		}
		if !a.less(child, i) {
			return top
		}
		a.heap[i], a.heap[child] = a.heap[child], a.heap[i]
		i = child
	}
}

func (a *agenda) less(i, j int) bool {
	x, y := &a.heap[i], &a.heap[j]
	if x.at != y.at {
		return x.at < y.at
	}
	return x.rank < y.rank || x.rank == y.rank && x.order < y.order
}
