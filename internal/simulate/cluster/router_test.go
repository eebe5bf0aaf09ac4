package cluster

import "testing"

// spread submits requests one after the other, each when the one before has
// ended, and counts which workers they went to.
func spread(t *testing.T, c Config, n int, chain func(int) []uint64) []int {
	w := newWorld(t, c)
	for i := range n {
		w.submit(w.Now(), Request{ID: uint64(i), Prompt: 160, Output: 2, Chain: chain(i)})
		w.run(w.Now() + 1e9)
	}
	counts := make([]int, c.Workers)
	for i := range n {
		counts[w.last(uint64(i)).Worker]++
	}
	return counts
}

func TestPolicies(t *testing.T) {
	same := func(int) []uint64 { return chainOf(1, 10) }
	other := func(i int) []uint64 { return chainOf(uint64(i)+1, 10) }
	c := small()
	c.Workers = 3
	for _, x := range []struct {
		name   string
		router Router
		chain  func(int) []uint64
		// low and high bound what each worker gets of 90.
		low, high int
	}{
		{"round robin", Router{Policy: RoundRobin}, same, 30, 30},
		{"random", Router{Policy: Random}, same, 15, 45},
		{"nothing in common", Router{Policy: KVAware, OverlapWeight: 1}, other, 15, 45},
		{"hot", Router{Policy: KVAware, OverlapWeight: 1, Temperature: 100}, same, 15, 45},
		{"no weight", Router{Policy: KVAware}, same, 15, 45},
	} {
		c.Router = x.router
		for i, n := range spread(t, c, 90, x.chain) {
			if n < x.low || n > x.high {
				t.Errorf("%s: worker %d got %d of 90, want %d to %d", x.name, i, n, x.low, x.high)
			}
		}
	}
	c.Router = Router{Policy: KVAware, OverlapWeight: 1}
	sticky := false
	for _, n := range spread(t, c, 90, same) {
		sticky = sticky || n == 90
	}
	if !sticky {
		t.Error("a cached prompt did not stay with its worker")
	}
}

func TestKVAwareWeighsLoad(t *testing.T) {
	c := small()
	c.Workers = 2
	for _, x := range []struct {
		name   string
		weight float64
		stays  bool
	}{{"light", .5, false}, {"heavy", 20, true}} {
		c.Router = Router{Policy: KVAware, OverlapWeight: x.weight}
		w := newWorld(t, c)
		w.submit(0, Request{ID: 1, Prompt: 160, Output: 2, Chain: chainOf(1, 10)})
		w.run(1e9)
		home := w.last(1).Worker
		// A long prompt keeps the home of the first one busy.
		w.submit(1e9, Request{ID: 2, Prompt: 320, Output: 50, Chain: append(chainOf(1, 10), chainOf(2, 10)...)})
		w.run(11e8)
		if w.of(2)[0].Worker != home {
			t.Fatalf("%s: the second prompt did not follow the first", x.name)
		}
		w.submit(11e8, Request{ID: 3, Prompt: 160, Output: 2, Chain: append(chainOf(1, 9), 77)})
		w.run(2e9)
		if stays := w.last(3).Worker == home; stays != x.stays {
			t.Errorf("%s overlap: the third stays with the first: %v", x.name, stays)
		}
	}
}
