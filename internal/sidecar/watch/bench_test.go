package watch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/sidecar/sink"
)

// lived returns a signal with some days of history at a steady level.
func lived(days int) (*signal, time.Time) {
	s := &signal{policy: sink.DefaultPolicy()}
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

func BenchmarkMoves(b *testing.B) {
	s, _ := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		learnMoves(&s.history, s.usual.path(), func(minute int64) float64 { return s.usual.extra(numberAt(minute)) })
	}
}

func BenchmarkDerive(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		s.usual.derive(numberOf(at) - 1)
	}
}

func BenchmarkView(b *testing.B) {
	s, _ := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		s.view()
	}
}

func BenchmarkJudge(b *testing.B) {
	s, _ := lived(28)
	for b.Loop() {
		s.judge()
	}
}

// BenchmarkMinute is a minute of a thousand jobs with four weeks of history, at twelve turns a minute, without the work of
// half hours and days.
func BenchmarkMinute(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 * signalCount {
			for range 12 {
				s.observe(turn{ln: math.Log(0.2)}, at)
			}
			s.minute--
			s.pass(at)
		}
	}
}
