package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestAgendaIsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a agenda
	type happening struct {
		at time.Duration
		n  int
	}
	var got []happening
	for n := range 1000 {
		h := happening{time.Duration(r.IntN(100)), n}
		a.add(h.at, func() { got = append(got, h) })
		if r.IntN(3) == 0 {
			a.next()
		}
	}
	for len(a.heap) > 0 {
		a.next().do()
	}
	// At one time, what was added first comes first.
	sorted := slices.IsSortedFunc(got, func(x, y happening) int {
		if x.at != y.at {
			return int(x.at - y.at)
		}
		return x.n - y.n
	})
	if !sorted || len(got) < 500 {
		t.Errorf("%d happenings, in order: %v", len(got), sorted)
	}
}
