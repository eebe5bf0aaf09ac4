package sweep

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// BenchmarkTurn measures the sweep's own work for a turn of 800 token events.
func BenchmarkTurn(b *testing.B) {
	c := newCollector([]slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99}}, time.Minute)
	start := time.Now()
	c.beginTimed(start, 3, 100*time.Second)
	r := ended(start, 0, 30*time.Second, probe.Success)
	for i := range 799 {
		r.Gaps = append(r.Gaps, time.Duration(30+i%7)*time.Millisecond)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(probe.Start{})
		c.Observe(r)
	}
}
