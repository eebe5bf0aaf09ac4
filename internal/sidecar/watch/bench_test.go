package watch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// lived returns a signal with some days of history at a steady level.
func lived(days int) (*signal, time.Time) {
	s := &signal{policy: fleet.DefaultPolicy()}
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
		learnMoves(&s.History, &s.Usual)
	}
}

func BenchmarkDerive(b *testing.B) {
	s, at := lived(28)
	b.ReportAllocs()
	for b.Loop() {
		s.Usual.derive(numberOf(at) - 1)
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

// BenchmarkDay is a day of a job with twelve turns a minute, with all that half hours and days cost.
func BenchmarkDay(b *testing.B) {
	at := monday
	r := NewTracker(TrackerOptions{Now: func() time.Time { return at }})
	var j fleet.Job
	j.Target.Name, j.Workload.Name = "a", "chat"
	r.Add(j)
	rng := rand.New(rand.NewPCG(1, 2))
	run := func(days int, every time.Duration) {
		for n := range days * int(24*time.Hour/every) {
			ttft := time.Duration(2e8 * math.Exp(0.3*rng.NormFloat64()))
			r.Observe(probe.Result{
				Target: "a", Workload: "chat", Outcome: probe.Success, Kind: probe.TurnKinds()[n%2], TTFT: probe.Some(ttft), TPOT: probe.Some(ttft / 10), Sent: at, End: at.Add(ttft),
				Tokens: probe.Tokens{PromptTokens: probe.Some(100), OutputTokens: probe.Some(50)},
				Timing: probe.Timing{TPOTTokens: 50},
			})
			at = at.Add(every)
		}
	}
	run(28, 20*time.Second)
	b.ReportAllocs()
	for b.Loop() {
		run(1, 5*time.Second)
	}
}
