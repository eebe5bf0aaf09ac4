package cluster

import "testing"

// requestsPerWorker submits n requests, each after the end of the previous one, and counts the
// requests of each worker.
func requestsPerWorker(t *testing.T, c Config, n int, chain func(int) []uint64) []int {
	r := newRun(t, c)
	for i := range n {
		r.submit(r.Now(), Request{ID: uint64(i), Prompt: 160, Output: 2, Chain: chain(i)})
		r.advance(r.Now() + 1e9)
	}
	counts := make([]int, c.Workers)
	for i := range n {
		counts[r.last(uint64(i)).Worker]++
	}
	return counts
}

func TestPolicies(t *testing.T) {
	same := func(int) []uint64 { return chainOf(1, 10) }
	different := func(i int) []uint64 { return chainOf(uint64(i)+1, 10) }
	c := small()
	c.Workers = 3
	for _, test := range []struct {
		name   string
		policy policy
		chain  func(int) []uint64
		// low and high bound the requests of each worker, of 90.
		low, high int
	}{
		{"round robin", roundRobin, same, 30, 30},
		{"different prompts", KVAware, different, 15, 45},
	} {
		c.Policy = test.policy
		for i, n := range requestsPerWorker(t, c, 90, test.chain) {
			if n < test.low || n > test.high {
				t.Errorf("%s: worker %d got %d of 90, want %d to %d", test.name, i, n, test.low, test.high)
			}
		}
	}
	c.Policy = KVAware
	sticky := false
	for _, n := range requestsPerWorker(t, c, 90, same) {
		sticky = sticky || n == 90
	}
	if !sticky {
		t.Error("requests with one cached prompt went to several workers")
	}
}

// TestKVAwareWeighsLoad checks that the router leaves the worker with the cached prompt when that
// worker has too many active blocks.
func TestKVAwareWeighsLoad(t *testing.T) {
	c := small()
	c.Workers = 2
	c.Policy = KVAware
	for _, test := range []struct {
		name   string
		blocks int // of the prompt that keeps the worker busy
		stays  bool
	}{{"long prompt", 20, false}, {"short prompt", 12, true}} {
		r := newRun(t, c)
		r.submit(0, Request{ID: 1, Prompt: 160, Output: 2, Chain: chainOf(1, 10)})
		r.advance(1e9)
		home := r.last(1).Worker
		busy := append(chainOf(1, 10), chainOf(2, test.blocks-10)...)
		r.submit(1e9, Request{ID: 2, Prompt: 16 * test.blocks, Output: 50, Chain: busy})
		r.advance(11e8)
		if r.eventsOf(2)[0].Worker != home {
			t.Fatalf("%s: the second request did not follow the first", test.name)
		}
		r.submit(11e8, Request{ID: 3, Prompt: 160, Output: 2, Chain: append(chainOf(1, 9), 77)})
		r.advance(2e9)
		if stays := r.last(3).Worker == home; stays != test.stays {
			t.Errorf("%s: the third request went to the worker with the cached prompt: %v", test.name, stays)
		}
	}
}
