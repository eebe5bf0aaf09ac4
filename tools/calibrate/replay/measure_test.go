package replay

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/simulate/cluster"
)

func TestWindow(t *testing.T) {
	const s = time.Second
	turns := []turn{
		// Turns that ended before, in and after the window, one that failed, and one that
		// did not end.
		{Sent: 0, First: 1 * s, End: 5 * s, Output: 5, Burst: 1, Prompt: 100, Cached: 100, Outcome: cluster.Done},
		{Sent: 5 * s, First: 8 * s, End: 20 * s, Output: 13, Burst: 1, Prompt: 100, Cached: 40, Outcome: cluster.Done},
		{Sent: 15 * s, First: 16 * s, End: 40 * s, Output: 25, Burst: 1, Prompt: 100, Cached: 80, Outcome: cluster.Done},
		{Sent: 11 * s, End: 12 * s, Outcome: cluster.Expired},
		{Sent: 12 * s, First: 15 * s, Output: 7, Burst: 4, Prompt: 200, Cached: 0},
	}
	f := window(turns, 10*s, 30*s)
	for name, c := range map[string][2]float64{
		"TTFT":    {f.TTFT.P50, 2},
		"TPOT":    {f.TPOT.P50, 1},
		"latency": {f.Latency.P95, 15},
		"errors":  {f.Errors, .5},
		"hits":    {f.Hits, 80. / 300},
		"turns":   {f.Turns, 3. / 20},
		"tokens":  {f.Tokens, 13. / 20},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
	if f := window(nil, 0, s); !math.IsNaN(f.TTFT.P50) || !math.IsNaN(f.Errors) || f.Turns != 0 {
		t.Errorf("figures of nothing: %+v", f)
	}
}

func TestTPOT(t *testing.T) {
	for _, c := range []struct {
		turn turn
		want time.Duration
		ok   bool
	}{
		{turn{First: 10, End: 50, Output: 5, Burst: 1}, 10, true},
		{turn{First: 10, End: 50, Output: 6, Burst: 4}, 20, true},
		{turn{First: 10, End: 10, Output: 1, Burst: 1}, 0, false},
		{turn{First: 10, End: 10, Output: 4, Burst: 4}, 0, false},
	} {
		if got, ok := c.turn.TPOT(); got != c.want || ok != c.ok {
			t.Errorf("%+v: %v, %v", c.turn, got, ok)
		}
	}
}

func TestQuantiles(t *testing.T) {
	values := make([]float64, 101)
	for i := range values {
		values[i] = float64(100 - i)
	}
	if got, want := quantiles(values), (Quantiles{50, 95, 99}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := quantiles([]float64{3, 1}); got.P50 != 2 || math.Abs(got.P95-2.9) > 1e-9 {
		t.Errorf("interpolated: %v", got)
	}
}

func TestTextsShareTheirStart(t *testing.T) {
	opening := cluster.NewText(1, blockTokens)
	opening.Grow(100) // 6 full blocks
	a, b := opening.Fork(2), opening.Fork(3)
	a.Grow(100)
	b.Grow(100)
	same := 0
	for same < len(a.Chain) && a.Chain[same] == b.Chain[same] {
		same++
	}
	if same != 6 || len(a.Chain) != 200/blockTokens || a.Tokens != 200 {
		t.Errorf("%d of %d blocks shared, want 6 of 12", same, len(a.Chain))
	}
	before := append([]uint64{}, a.Chain...)
	a.Grow(500)
	for i, h := range before {
		if a.Chain[i] != h {
			t.Errorf("block %d changed as the text grew", i)
		}
	}
}

func TestChainsDoNotCollide(t *testing.T) {
	seen := map[uint64]bool{}
	all := openings([]int{3500, 3520, 3540, 3560, 3580, 3600, 3620, 3640, 3660, 3680})
	for i := range uint64(100) {
		x := all[i%10].Fork(cluster.Mix(7 ^ cluster.Mix(i+1<<32)))
		x.Grow(3000)
		all = append(all, x)
	}
	n := 0
	for i, x := range all {
		own := x.Chain
		if i >= 10 {
			own = own[all[(i-10)%10].Tokens/blockTokens:]
		}
		for _, h := range own {
			seen[h] = true
			n++
		}
	}
	if len(seen) != n {
		t.Errorf("%d hashes of %d blocks", len(seen), n)
	}
}
