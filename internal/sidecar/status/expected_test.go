package status

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// TestExpected checks that the benchmark's known figures stand below the measured ones, only
// for its own job, and disappear with the benchmark.
func TestExpected(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(time.Minute, first, ttft(400*time.Millisecond)), turn(time.Minute))
	benchmark := &sink.Benchmark{Variant: "kv_aware", Run: hostile, Kind: "concurrency", Level: 20}
	benchmark.Figures[0][0] = sink.SignalFigures{Samples: probe.Some(300), Quantiles: [3]probe.Opt[time.Duration]{probe.Some(390 * time.Millisecond)}}
	compared := jobOf("t", "w")
	compared.Benchmark = benchmark
	p.Add(compared)
	j := only(t, p)
	if j.Expected == nil || !strings.HasPrefix(j.Expected.Source, "kv_aware") {
		t.Fatalf("expected: %+v", j.Expected)
	}
	got := rows(j.Recent, j.Expected)
	if len(got) != 5 || got[1].Name != "… expected" || got[1].Count != 300 || got[1].P50.String() != "390 ms" || got[1].P99.String() != "n/a" {
		t.Errorf("rows %+v: want one of what is expected, after the TTFT of first turns", got)
	}
	page := get(t, p, "/").Body.String()
	if !strings.Contains(page, "expected: kv_aware of &lt;/title") || !strings.Contains(page, "390 ms") {
		t.Error("the page does not show it, or not escaped")
	}
	data, err := json.Marshal(j)
	if err != nil || !strings.Contains(string(data), `"expected":{"source":"kv_aware`) {
		t.Errorf("in JSON: %v %s", err, data)
	}
	p.Add(jobOf("t", "w"))
	if j := only(t, p); j.Expected != nil || len(rows(j.Recent, j.Expected)) != 4 {
		t.Errorf("once it is gone it is still expected: %+v", j.Expected)
	}
}
