package baseline

import (
	"math"
	"math/rand/v2"
	"synthetic/internal/sidecar/sink"
	"testing"
	"time"
)

// lived returns a series with some days of history at a steady level.
func lived(days int) (*series, time.Time) {
	s := &series{policy: sink.DefaultPolicy()}
	rng := rand.New(rand.NewPCG(1, 2))
	at := monday
	for range days * 24 * 60 {
		for range 3 {
			s.pass(at)
			s.observe(turn{ln: math.Log(0.2) + 0.3*rng.NormFloat64()}, at)
			at = at.Add(20 * time.Second)
		}
	}
	return s, at
}

func BenchmarkCalibrate(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		calibrate(&s.history, s.past28(numberOf(at)), s.wide)
	}
}

func BenchmarkDerive(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		s.baseline.derive(numberOf(at) - 1)
	}
}

func BenchmarkView(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		s.view(at)
	}
}

func BenchmarkJudge(b *testing.B) {
	s, _ := lived(28)
	for b.Loop() {
		s.judge()
	}
}
