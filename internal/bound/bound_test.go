package bound

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestBudget(t *testing.T) {
	b := NewBudget(10)
	for i, step := range []struct {
		take int64
		ok   bool
		used float64
	}{{4, true, 4}, {7, false, 4}, {6, true, 10}, {1, false, 10}, {0, true, 10}} {
		if ok := b.Take(step.take); ok != step.ok {
			t.Errorf("step %d: taking %d: %v", i, step.take, ok)
		}
		if used, limit := b.Level(); used != step.used || limit != 10 {
			t.Errorf("step %d: %v of %v", i, used, limit)
		}
	}
	b.Return(10)
	if used, _ := b.Level(); used != 0 {
		t.Errorf("%v in use at the end", used)
	}
}

func TestNoLimit(t *testing.T) {
	b := NewBudget(0)
	c, ok := b.Claim(1 << 60)
	if !ok || !c.Grow(1<<61) || !b.Take(1<<62) {
		t.Error("a limit where there is none")
	}
	c.Release()
	b.Return(1)
	var none *Claim
	if !none.Grow(1) {
		t.Error("a nil claim has a limit")
	}
	none.Release()
	var peak *Peak
	peak.Record(1, 2)
	if used, limit := peak.Level(); used != 0 || limit != 0 {
		t.Errorf("a nil peak: %v of %v", used, limit)
	}
}

func TestClaim(t *testing.T) {
	b := NewBudget(10)
	first, ok := b.Claim(6)
	if !ok {
		t.Fatal("6 of 10 were not there")
	}
	if second, ok := b.Claim(5); ok || second.Grow(5) {
		t.Error("11 of 10 were there")
	}
	if !first.Grow(3) || !first.Grow(9) || first.Grow(11) {
		t.Error("it grows otherwise than to 9 of 10")
	}
	if used, _ := b.Level(); used != 9 {
		t.Errorf("%v in use, want 9", used)
	}
	first.Release()
	first.Release()
	if used, _ := b.Level(); used != 0 {
		t.Errorf("%v in use after the release", used)
	}
}

// TestBudgetIsNeverExceeded takes and returns concurrently.
func TestBudgetIsNeverExceeded(t *testing.T) {
	b := NewBudget(100)
	var all sync.WaitGroup
	var holding, peak atomic.Int64
	for range 16 {
		all.Go(func() {
			for range 1000 {
				if !b.Take(7) {
					continue
				}
				now := holding.Add(7)
				for seen := peak.Load(); now > seen && !peak.CompareAndSwap(seen, now); seen = peak.Load() {
				}
				holding.Add(-7)
				b.Return(7)
			}
		})
	}
	all.Wait()
	if used, _ := b.Level(); used != 0 || peak.Load() > 100 {
		t.Errorf("%v in use at the end, %d at most", used, peak.Load())
	}
}

func TestPeak(t *testing.T) {
	var p Peak
	for _, seen := range [][4]int64{{0, 100, 0, 100}, {30, 100, 30, 100}, {299, 1000, 30, 100}, {4, 10, 4, 10}, {5, 0, 4, 10}, {11, 10, 11, 10}} {
		p.Record(seen[0], seen[1])
		if used, limit := p.Level(); used != float64(seen[2]) || limit != float64(seen[3]) {
			t.Errorf("after %d of %d: %v of %v", seen[0], seen[1], used, limit)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text            string
		most            int
		clip, shortened string
	}{
		{"", 0, "", ""}, {"abc", 3, "abc", "abc"}, {"abcd", 3, "abc", "abc…"},
		{"aµµ", 4, "aµ", "aµ…"}, {"aµ", 2, "a", "a…"}, {"µ", 1, "", "…"},
	} {
		if clip, shortened := Clip(c.text, c.most), Shorten(c.text, c.most); clip != c.clip || shortened != c.shortened {
			t.Errorf("%q in %d bytes: %q and %q, want %q and %q", c.text, c.most, clip, shortened, c.clip, c.shortened)
		}
	}
}
