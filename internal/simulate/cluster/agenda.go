package cluster

import (
	"cmp"
	"slices"
	"time"
)

// entry is something that will happen.
type entry struct {
	at   time.Duration
	rank uint64 // of entries at one time: the lowest first
	do   func()
}

// agenda is what will happen, the next at its end; of equal entries the one
// that was added first.
type agenda []*entry

// add puts something on the agenda. Its rank keeps its place among what is due
// at the same time from depending on when it was added; 0 is before all others.
func (a *agenda) add(at time.Duration, rank uint64, do func()) {
	i, _ := slices.BinarySearchFunc(*a, entry{at: at, rank: rank}, func(e *entry, x entry) int {
		return cmp.Or(cmp.Compare(x.at, e.at), cmp.Compare(x.rank, e.rank))
	})
	*a = slices.Insert(*a, i, &entry{at, rank, do})
}

// next takes the first entry off the agenda, which must not be empty.
func (a *agenda) next() *entry {
	last := len(*a) - 1
	e := (*a)[last]
	*a = slices.Delete(*a, last, last+1)
	return e
}
