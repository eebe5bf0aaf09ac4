package cluster

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestAgendaIsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a agenda
	type item struct {
		at   time.Duration
		rank uint64
		n    int
	}
	var got []item
	for n := range 1000 {
		h := item{time.Duration(r.IntN(100)), r.Uint64N(3), n}
		a.add(h.at, h.rank, func() { got = append(got, h) })
		if r.IntN(3) == 0 {
			a.pop()
		}
	}
	for len(a) > 0 {
		a.pop().do()
	}
	// Of actions at the same time the lowest rank comes first, and of equal ranks the action that
	// was added first.
	sorted := slices.IsSortedFunc(got, func(x, y item) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.rank, y.rank), cmp.Compare(x.n, y.n))
	})
	if !sorted || len(got) < 500 {
		t.Errorf("%d actions, in order: %v", len(got), sorted)
	}
}
