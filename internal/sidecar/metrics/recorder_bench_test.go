package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// BenchmarkTurnEnded measures the cost of a turn with 800 gaps for its conversation's
// goroutine.
func BenchmarkTurnEnded(b *testing.B) {
	r := newTestRecorder(&clock{start}, "a")
	t := turn("a", probe.Followup, start, 300*time.Millisecond, 0, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		t.Gaps = append(t.Gaps, time.Duration(25e6*math.Exp(rng.NormFloat64()/2)))
	}
	s := probe.Start{Target: "a", Workload: "chat", Kind: probe.Followup}
	b.ReportAllocs()
	for b.Loop() {
		r.Observe(s)
		r.Observe(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/800, "ns/gap")
}
