package cluster

import (
	"testing"
	"time"
)

func TestStepTime(t *testing.T) {
	c := cost{Base: 10e-3, Token: 1e-3, KVToken: 1e-6, Prefill: .1e-3, Pair: 1e-9, Eager: 7e-3, Draft: 2e-3}
	padded := engine{Graphs: []int{1, 2, 4, 8}, Padding: true, Cost: c}
	exact := engine{Graphs: []int{1, 2, 4, 8}, Cost: c}
	drafts := engine{Speculation: Speculation{Draft: 3}, Cost: c}
	decode := func(n int) load { return load{decodes: n, decoded: n} }
	const ms = time.Millisecond
	for _, x := range []struct {
		name            string
		engine          engine
		load            load
		prefill, decode float64
		want            time.Duration
	}{
		{"one sequence", padded, decode(1), 1, 1, 11 * ms},
		{"padded to the next size", padded, decode(5), 1, 1, 18 * ms},
		{"exactly that size", padded, decode(8), 1, 1, 18 * ms},
		{"above all sizes, without a graph", padded, decode(9), 1, 1, 26 * ms},
		{"without padding, between sizes", exact, decode(5), 1, 1, 22 * ms},
		{"without padding, at a size", exact, decode(8), 1, 1, 18 * ms},
		{"no graphs", engine{Cost: c}, decode(9), 1, 1, 19 * ms},
		{"reading KV", padded, load{decodes: 1, decoded: 1, context: 5000}, 1, 1, 16 * ms},
		{"prefill only", padded, load{prefill: 200, pairs: 1e6}, 1, 1, 38 * ms},
		{"prefill beside decode", padded, load{decodes: 4, decoded: 4, prefill: 100}, 1, 1, 31 * ms},
		{"drafts", drafts, load{decodes: 2, decoded: 8}, 1, 1, 20 * ms},
		{"no drafts in prefill", drafts, load{prefill: 150}, 1, 1, 32 * ms},
		{"slow prefill", padded, load{decodes: 4, decoded: 4, prefill: 100}, 3, 1, 51 * ms},
		{"slow decode", padded, load{decodes: 4, decoded: 4, prefill: 10}, 1, 2, 43 * ms},
	} {
		if got := x.engine.duration(x.load, x.prefill, x.decode).Round(time.Microsecond); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}

func TestTimeNeverStandsStill(t *testing.T) {
	e := engine{Cost: cost{Base: 1e-12}}
	if got := e.duration(load{}, 1, 0); got != 1 {
		t.Errorf("a step takes %d ns, want 1", got)
	}
}
