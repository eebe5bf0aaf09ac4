package cluster

import (
	"cmp"
	"container/heap"
	"time"
)

// entry is something that will happen.
type entry struct {
	at    time.Duration
	rank  uint64 // of entries at one time: the lowest first
	order uint64 // of entries of one rank: first in, first out
	do    func()
}

// agenda is what will happen, the next on top of the heap.
type agenda struct {
	heap  entries
	count uint64
}

// add puts something on the agenda, before all that has a rank.
func (a *agenda) add(at time.Duration, do func()) { a.addRanked(at, 0, do) }

// addRanked puts something on the agenda whose place among what is due at the
// same time does not depend on when it was added.
func (a *agenda) addRanked(at time.Duration, rank uint64, do func()) {
	a.count++
	heap.Push(&a.heap, &entry{at, rank, a.count, do})
}

// next takes the first entry off the agenda, which must not be empty.
func (a *agenda) next() *entry { return heap.Pop(&a.heap).(*entry) }

// entries implements heap.Interface.
type entries []*entry

func (e entries) Len() int      { return len(e) }
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(*entry)) }

func (e entries) Less(i, j int) bool {
	x, y := e[i], e[j]
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.rank, y.rank), cmp.Compare(x.order, y.order)) < 0
}

func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return x
}
