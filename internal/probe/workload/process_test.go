package workload

import (
	"math"
	"testing"
	"time"
)

// starts returns the first n starts in seconds.
func starts(s *Schedule, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = s.Next().Seconds()
	}
	return all
}

// spread returns the mean and the coefficient of variation of the intervals.
func spread(starts []float64) (mean, cv float64) {
	n := float64(len(starts) - 1)
	mean = (starts[len(starts)-1] - starts[0]) / n
	var squares float64
	for i := 1; i < len(starts); i++ {
		d := starts[i] - starts[i-1] - mean
		squares += d * d
	}
	return mean, math.Sqrt(squares/n) / mean
}

func TestSchedulesHaveTheirRateAndSpread(t *testing.T) {
	tests := map[string]struct {
		arrival Arrival
		cv      float64
	}{
		"constant":      {Arrival{Process: Constant, Rate: 10}, 0},
		"constant slow": {Arrival{Process: Constant, Rate: 0.001}, 0},
		"poisson":       {Arrival{Process: Poisson, Rate: 10}, 1},
		"gamma default": {Arrival{Process: Gamma, Rate: 10}, 1},
		"gamma regular": {Arrival{Process: Gamma, Rate: 3, Burstiness: 4}, 0.5},
		"gamma bursty":  {Arrival{Process: Gamma, Rate: 3, Burstiness: 0.25}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			mean, cv := spread(starts(NewSchedule(tt.arrival, 42, 0), 40_000))
			if got := 1 / mean; math.Abs(got/tt.arrival.Rate-1) > 0.03 {
				t.Errorf("rate %v, want %v", got, tt.arrival.Rate)
			}
			if math.Abs(cv-tt.cv) > 0.03*max(tt.cv, 0.01) {
				t.Errorf("coefficient of variation %v, want %v", cv, tt.cv)
			}
		})
	}
}

func TestSchedulesAreMonotoneAndRepeatable(t *testing.T) {
	for _, process := range []Process{Constant, Poisson, Gamma} {
		for seed := range uint64(20) {
			a := Arrival{Process: process, Rate: math.Pow(10, float64(seed%7)-3), Burstiness: 0.1 + float64(seed%5)}
			offset := time.Duration(seed) * time.Second
			one, two := NewSchedule(a, seed, offset), NewSchedule(a, seed, offset)
			last := offset
			for k := range 2000 {
				start := one.Next()
				if k == 0 && start != offset {
					t.Fatalf("%v: the first start is at %s, want %s", a, start, offset)
				}
				if start < last {
					t.Fatalf("%v: start %d is at %s, before %s", a, k, start, last)
				}
				if again := two.Next(); again != start {
					t.Fatalf("%v: start %d is at %s and at %s", a, k, start, again)
				}
				last = start
			}
		}
	}
}

func TestConstantDoesNotDrift(t *testing.T) {
	s := NewSchedule(Arrival{Process: Constant, Rate: 3}, 0, 0)
	s.count = 3 * 86400 * 365 // a year of starts
	if got, want := s.Next(), 365*24*time.Hour; (got - want).Abs() > time.Microsecond {
		t.Errorf("a year's starts take %s, want %s", got, want)
	}
}

func TestTheSlowestScheduleDoesNotOverflow(t *testing.T) {
	s := NewSchedule(Arrival{Process: Poisson, Rate: 1e-300}, 1, Phase(time.Unix(1e9, 0), 1e-300, 1<<63))
	for range 10 {
		if start := s.Next(); start < 0 {
			t.Fatalf("a start at %s", start)
		}
	}
}

func TestPhaseIsFixedToTheWallClock(t *testing.T) {
	const rate = 0.1 // every 10 s
	now := time.Unix(1_700_000_000, 0)
	for _, hash := range []uint64{0, 1 << 62, 1 << 63, math.MaxUint64} {
		want := now.Add(Phase(now, rate, hash))
		for _, later := range []time.Duration{0, time.Second, 3500 * time.Millisecond, 9 * time.Second, time.Hour} {
			at := now.Add(later)
			wait := Phase(at, rate, hash)
			if wait < 0 || wait > 10*time.Second {
				t.Fatalf("hash %x: a wait of %s", hash, wait)
			}
			off := math.Mod(at.Add(wait).Sub(want).Seconds(), 10)
			if off = math.Abs(off); min(off, 10-off) > 1e-3 {
				t.Errorf("hash %x: started %s later the phase is off by %v s", hash, later, off)
			}
		}
	}
}

func TestPhaseSpreadsReplicas(t *testing.T) {
	const replicas, buckets = 1000, 10
	var count [buckets]int
	now := time.Unix(1_700_000_003, 123)
	for i := range replicas {
		wait := Phase(now, 1.0/buckets, Hash("replica-"+string(rune('a'+i%26))+time.Duration(i).String(), "target", "chat"))
		count[min(int(wait.Seconds()), buckets-1)]++
	}
	for second, n := range count {
		if n < 60 || n > 140 {
			t.Errorf("%d of %d replicas start in second %d of %d: %v", n, replicas, second, buckets, count)
		}
	}
}

func TestHashSeparatesItsParts(t *testing.T) {
	if Hash("ab", "c") == Hash("a", "bc") || Hash("a") == Hash("a", "") {
		t.Error("parts run into each other")
	}
}
